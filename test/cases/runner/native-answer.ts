import { isObj, type Obj, objs, str } from './case-file.ts';
import { asText } from './notation.ts';
import type { Answer } from './replay-server.ts';
import type { WireApi } from './target.ts';

/** One model answer of a transcript: the keys that stood in one item. */
export type Step = Obj;

/** Text of `assistant`, which may be a string, a repeat, or `{ text, item_id }`. */
export function assistantText(step: Step): string {
  const { assistant } = step;
  return isObj(assistant) && assistant.$repeat === undefined ? asText(assistant.text) : asText(assistant);
}

/** Arguments of a call as text, as the server sent them. */
export function rawArguments(call: Obj): string {
  return call.args_raw === undefined ? JSON.stringify(call.args ?? {}) : str(call.args_raw);
}

/** The answer as its maker's API would have streamed it, so that the product reads it as it reads any other. */
export function nativeAnswer(api: WireApi, step: Step, index: number): Answer {
  const events = { anthropic: anthropicEvents, 'openai-chat': chatEvents, 'openai-responses': responsesEvents }[api](
    step,
    index,
  );
  const body = events.map(
    (event) => `${event.type === undefined ? '' : `event: ${str(event.type)}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  const done = api === 'openai-chat' ? ['data: [DONE]\n\n'] : [];
  return {
    http: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: [...body, ...done].join('') },
    end: 'close',
  };
}

/** Text of reasoning; one whose text was cleared later had some when it came. */
function reasoningText(reasoning: Obj): string {
  return reasoning.text_was_cleared === true ? 'Thinking that was cleared later.' : asText(reasoning.text);
}

function anthropicEvents(step: Step, index: number): Obj[] {
  const blocks: { start: Obj; deltas: Obj[] }[] = [];
  if (isObj(step.reasoning)) blocks.push(thinkingBlock(step.reasoning));
  if (step.assistant !== undefined) {
    blocks.push({ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: assistantText(step) }] });
  }
  for (const event of providerItems(step)) blocks.push({ start: event, deltas: [] });
  for (const call of objs(step.calls)) {
    const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
    blocks.push({ start, deltas: [{ type: 'input_json_delta', partial_json: rawArguments(call) }] });
  }
  const usage = { input_tokens: 10, output_tokens: 1 };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${index}`,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage,
      },
    },
    ...blocks.flatMap(({ start, deltas }, i) => [
      { type: 'content_block_start', index: i, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: i, delta })),
      { type: 'content_block_stop', index: i },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: step.calls === undefined ? 'end_turn' : 'tool_use' },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
}

function thinkingBlock(reasoning: Obj): { start: Obj; deltas: Obj[] } {
  const redacted = reasoning.redacted ?? reasoning.data;
  if (typeof redacted === 'string') return { start: { type: 'redacted_thinking', data: redacted }, deltas: [] };
  const signature =
    typeof reasoning.signature === 'string' ? [{ type: 'signature_delta', signature: reasoning.signature }] : [];
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [{ type: 'thinking_delta', thinking: reasoningText(reasoning) }, ...signature],
  };
}

/** Items of tools that the provider ran, in its own form. */
function providerItems(step: Step): Obj[] {
  const { provider_call: call } = step;
  return (Array.isArray(call) ? objs(call) : isObj(call) ? [call] : []).map((entry) =>
    isObj(entry.item) ? entry.item : entry,
  );
}

function chatEvents(step: Step, index: number): Obj[] {
  const deltas: Obj[] = [{ role: 'assistant', content: null }];
  if (isObj(step.reasoning)) deltas.push({ reasoning_content: reasoningText(step.reasoning) });
  if (step.assistant !== undefined) deltas.push({ content: assistantText(step) });
  objs(step.calls).forEach((call, i) => {
    const extra = call.extra_content ?? call.extra;
    const fn = { name: call.name, arguments: rawArguments(call) };
    deltas.push({
      tool_calls: [
        {
          index: i,
          id: call.id,
          type: 'function',
          function: fn,
          ...(extra === undefined ? {} : { extra_content: extra }),
        },
      ],
    });
  });
  const chunk = (delta: Obj, finish: string | null) => ({
    id: `chatcmpl-${index}`,
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, step.calls === undefined ? 'stop' : 'tool_calls')];
}

function responsesEvents(step: Step, index: number): Obj[] {
  const items = responsesItems(step, index);
  const response = { id: `resp_${index}`, object: 'response', model: 'm', error: null, incomplete_details: null };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap((item, i) => [
      { type: 'response.output_item.added', output_index: i, item: opened(item) },
      ...contentEvents(item, i),
      { type: 'response.output_item.done', output_index: i, item },
    ]),
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: items,
        usage: { input_tokens: 10, output_tokens: 9, total_tokens: 19 },
      },
    },
  ];
}

function responsesItems(step: Step, index: number): Obj[] {
  const items: Obj[] = [];
  const id = (value: unknown, otherwise: string) =>
    isObj(value) && value.item_id !== undefined ? value.item_id : otherwise;
  if (isObj(step.reasoning)) {
    const summary = Array.isArray(step.reasoning.summary) ? step.reasoning.summary : [];
    const text = reasoningText(step.reasoning);
    items.push({
      type: 'reasoning',
      id: id(step.reasoning, `rs_${index}`),
      summary: summary.map((entry) => ({ type: 'summary_text', text: str(entry) })),
      ...(step.reasoning.encrypted === undefined ? {} : { encrypted_content: step.reasoning.encrypted }),
      ...(text === '' ? {} : { content: [{ type: 'reasoning_text', text }] }),
    });
  }
  if (step.assistant !== undefined) {
    const content = [{ type: 'output_text', text: assistantText(step), annotations: [] }];
    items.push({
      type: 'message',
      id: id(step.assistant, `msg_${index}`),
      role: 'assistant',
      status: 'completed',
      content,
    });
  }
  items.push(...providerItems(step));
  if (isObj(step.custom_call)) {
    const { id: callId, name = 'custom_tool', input } = step.custom_call;
    items.push({
      type: 'custom_tool_call',
      id: id(step.custom_call, `ctc_${index}`),
      call_id: callId,
      name,
      input: str(input),
      status: 'completed',
    });
  }
  objs(step.calls).forEach((call, i) => {
    items.push({
      type: 'function_call',
      id: id(call, `fc_${index}_${i}`),
      call_id: call.id,
      name: call.name,
      arguments: rawArguments(call),
      status: 'completed',
    });
  });
  return items;
}

/** An item as it stands when it is announced: without what arrives in deltas. */
function opened(item: Obj): Obj {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' };
  if (item.type === 'custom_tool_call') return { ...item, input: '', status: 'in_progress' };
  return item.type === 'message' ? { ...item, content: [], status: 'in_progress' } : item;
}

function contentEvents(item: Obj, index: number): Obj[] {
  const at = { item_id: item.id, output_index: index };
  if (item.type === 'message') {
    const text = str(objs(item.content)[0]?.text);
    return [
      {
        type: 'response.content_part.added',
        ...at,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      { type: 'response.output_text.delta', ...at, content_index: 0, delta: text },
      { type: 'response.output_text.done', ...at, content_index: 0, text },
    ];
  }
  if (item.type === 'custom_tool_call')
    return [{ type: 'response.custom_tool_call_input.done', ...at, input: item.input }];
  if (item.type !== 'function_call') return [];
  return [
    { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
    { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
  ];
}
