import { PARAMETERS, PIXEL, type Plan, type Step, TOOL_NAMES, type Turn } from './plan.ts';

/** A request body that mutations may change in place. */
export type Draft = Record<string, unknown>;

const isLast = (turns: readonly Turn[], index: number) => index === turns.length - 1;

/** Gives each call of the plan the next id. */
function counter(prefix: string): () => string {
  let n = 0;
  return () => `${prefix}${(n++).toString(36).padStart(6, '0')}`;
}

export function toChat(plan: Plan): Draft {
  const nextId = counter('call_');
  const messages: Draft[] = plan.system === undefined ? [] : [{ role: 'system', content: plan.system }];
  plan.turns.forEach((turn, index) => {
    const text = { type: 'text', text: turn.user };
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'auto' } };
    messages.push({ role: 'user', content: turn.image ? [text, image] : turn.user });
    for (const step of turn.steps) messages.push(...chatStep(step, nextId));
    if (!isLast(plan.turns, index)) messages.push({ role: 'assistant', content: turn.answer });
  });
  return {
    model: 'gpt-test',
    messages,
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: 2048,
    temperature: 1,
    tools: TOOL_NAMES.map((name) => ({
      type: 'function',
      function: { name, description: `Does ${name}.`, parameters: structuredClone(PARAMETERS) },
    })),
    tool_choice: 'auto',
    parallel_tool_calls: true,
  };
}

function chatStep(step: Step, nextId: () => string): Draft[] {
  const ids = step.calls.map(() => nextId());
  return [
    {
      role: 'assistant',
      content: step.text ?? null,
      tool_calls: step.calls.map((call, i) => ({
        id: ids[i],
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
    },
    ...step.calls.map((call, i) => ({ role: 'tool', tool_call_id: ids[i], content: call.output })),
  ];
}

export function toAnthropic(plan: Plan): Draft {
  const nextId = counter('toolu_');
  const messages: Draft[] = [];
  let pending: Draft[] = [];
  const assistant = (content: Draft[]) => messages.push({ role: 'assistant', content });
  plan.turns.forEach((turn, index) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
    const said: Draft[] = [{ type: 'text', text: turn.user }, ...(turn.image ? [image] : [])];
    messages.push({ role: 'user', content: said });
    for (const step of turn.steps) {
      pending = anthropicStep(step, plan.thinking, nextId, assistant);
      messages.push({ role: 'user', content: pending });
    }
    if (!isLast(plan.turns, index)) assistant([{ type: 'text', text: turn.answer }]);
  });
  return {
    model: 'claude-test',
    max_tokens: 4096,
    messages,
    stream: true,
    ...(plan.system === undefined
      ? {}
      : { system: [{ type: 'text', text: plan.system, cache_control: { type: 'ephemeral' } }] }),
    ...(plan.thinking ? { thinking: { type: 'enabled', budget_tokens: 1024 } } : { temperature: 0.5 }),
    tools: TOOL_NAMES.map((name) => ({
      name,
      description: `Does ${name}.`,
      input_schema: structuredClone(PARAMETERS),
    })),
    tool_choice: { type: 'auto' },
  };
}

/** Says the step's assistant part and returns the results that answer it. */
function anthropicStep(step: Step, thinking: boolean, nextId: () => string, say: (content: Draft[]) => void): Draft[] {
  const ids = step.calls.map(() => nextId());
  say([
    ...(thinking ? [{ type: 'thinking', thinking: step.thought, signature: 'EqQBCgIYAhIk' }] : []),
    ...(step.text === undefined ? [] : [{ type: 'text', text: step.text }]),
    ...step.calls.map((call, i) => ({ type: 'tool_use', id: ids[i], name: call.name, input: { ...call.args } })),
  ]);
  return step.calls.map((call, i) => ({
    type: 'tool_result',
    tool_use_id: ids[i],
    content: [{ type: 'text', text: call.output }],
    is_error: false,
  }));
}

export function toResponses(plan: Plan): Draft {
  const nextId = counter('call_');
  const nextItem = counter('');
  const input: Draft[] = [];
  plan.turns.forEach((turn, index) => {
    const image = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' };
    input.push({ role: 'user', content: [{ type: 'input_text', text: turn.user }, ...(turn.image ? [image] : [])] });
    for (const step of turn.steps) input.push(...responsesStep(step, plan.thinking, nextId, nextItem));
    if (isLast(plan.turns, index)) return;
    const content = [{ type: 'output_text', text: turn.answer, annotations: [] }];
    input.push({ type: 'message', role: 'assistant', status: 'completed', content });
  });
  return {
    model: 'gpt-test',
    input,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 2048,
    ...(plan.system === undefined ? {} : { instructions: plan.system }),
    reasoning: { effort: 'low', summary: 'auto' },
    tools: TOOL_NAMES.map((name) => ({
      type: 'function',
      name,
      description: `Does ${name}.`,
      parameters: structuredClone(PARAMETERS),
      strict: false,
    })),
    tool_choice: 'auto',
    parallel_tool_calls: true,
  };
}

function responsesStep(step: Step, thinking: boolean, nextId: () => string, nextItem: () => string): Draft[] {
  const ids = step.calls.map(() => nextId());
  const thought = {
    type: 'reasoning',
    id: `rs_${nextItem()}`,
    summary: [{ type: 'summary_text', text: step.thought }],
    encrypted_content: 'gAAAAB',
  };
  const said = {
    type: 'message',
    id: `msg_${nextItem()}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: step.text, annotations: [] }],
  };
  return [
    ...(thinking ? [thought] : []),
    ...(step.text === undefined ? [] : [said]),
    ...step.calls.map((call, i) => ({
      type: 'function_call',
      id: `fc_${nextItem()}`,
      call_id: ids[i],
      name: call.name,
      arguments: JSON.stringify(call.args),
    })),
    ...step.calls.map((call, i) => ({ type: 'function_call_output', call_id: ids[i], output: call.output })),
  ];
}
