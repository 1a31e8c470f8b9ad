import { isObject, type Obj } from './shape.ts';

/** Tools that the transcripts call, declared so that only the messages can be wrong. */
const TOOL_NAMES = [
  'read_file',
  'list_dir',
  'get_time',
  'run_command',
  'write_file',
  'open_page',
  'search',
  'get_weather',
  'wait_job',
  'get_booking',
];
const PARAMETERS = { type: 'object', properties: {} };

/** Steps of a recorded transcript, in the notation of the case file. */
function steps(transcript: readonly unknown[]): Obj[] {
  return transcript.filter(isObject);
}

function entries(value: unknown): Obj[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : String(isObject(value) ? value.text : value);
}

const rawArguments = (call: Obj) => (call.args_raw === undefined ? JSON.stringify(call.args) : call.args_raw);

/** What a client sends that writes history down as it stands, without looking at the rules: Chat Completions. */
export function naiveChat(transcript: readonly unknown[]): Obj {
  const messages = steps(transcript).flatMap((step): Obj[] => {
    if (step.system !== undefined) return [{ role: 'system', content: step.system }];
    if (step.user !== undefined) return [{ role: 'user', content: step.user }];
    if (step.results !== undefined) {
      return entries(step.results).map((r) => ({ role: 'tool', tool_call_id: r.id, content: r.output ?? r.error }));
    }
    if (step.assistant === undefined && step.calls === undefined) return [];
    const calls = entries(step.calls).map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: rawArguments(call) },
    }));
    const reasoning = isObject(step.reasoning) ? { reasoning_content: step.reasoning.text } : {};
    const content = step.assistant === undefined ? null : text(step.assistant);
    return [{ role: 'assistant', content, ...reasoning, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
  });
  const tools = TOOL_NAMES.map((name) => ({ type: 'function', function: { name, parameters: PARAMETERS } }));
  return { model: 'm', messages, tools };
}

/** The same for Messages: a message an item. */
export function naiveAnthropic(transcript: readonly unknown[]): Obj {
  const systems = steps(transcript).filter((step) => step.system !== undefined);
  const marked = (step: Obj) => (step.cache === true ? { cache_control: { type: 'ephemeral' } } : {});
  const messages = steps(transcript).flatMap((step): Obj[] => {
    if (step.user !== undefined)
      return [{ role: 'user', content: userBlocks(step).map((block) => ({ ...block, ...marked(step) })) }];
    if (step.results !== undefined) {
      return [
        {
          role: 'user',
          content: entries(step.results).map((r) => ({
            type: 'tool_result',
            tool_use_id: r.id,
            content: [{ type: 'text', text: r.output ?? r.error }],
          })),
        },
      ];
    }
    const content: Obj[] = [];
    if (isObject(step.reasoning))
      content.push({ type: 'thinking', thinking: step.reasoning.text, signature: step.reasoning.signature });
    if (step.assistant !== undefined) content.push({ type: 'text', text: text(step.assistant), ...marked(step) });
    for (const call of entries(step.calls))
      content.push({ type: 'tool_use', id: call.id, name: call.name, input: call.args ?? JSON.parse(repaired(call)) });
    return content.length === 0 ? [] : [{ role: 'assistant', content }];
  });
  const system = systems.map((step) => ({ type: 'text', text: step.system, ...marked(step) }));
  const tools = TOOL_NAMES.map((name) => ({ name, input_schema: PARAMETERS }));
  return { model: 'm', max_tokens: 2048, messages, tools, ...(system.length > 0 ? { system } : {}) };
}

function userBlocks(step: Obj): Obj[] {
  if (typeof step.user === 'string') return [{ type: 'text', text: step.user }];
  return entries(step.user).map((part) => {
    if (part.text !== undefined) return { type: 'text', text: part.text };
    const image = isObject(part.image) ? part.image : {};
    return { type: 'image', source: { type: 'base64', media_type: image.mediaType, data: image.base64 } };
  });
}

/** Arguments that do not parse are sent as the text they are. */
function repaired(call: Obj): string {
  const raw = String(call.args_raw);
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return JSON.stringify(raw);
  }
}

/** The same for Responses: item ids as recorded. */
export function naiveResponses(transcript: readonly unknown[]): Obj {
  const id = (value: unknown) => (isObject(value) && value.item_id !== undefined ? { id: value.item_id } : {});
  const input = steps(transcript).flatMap((step): Obj[] => {
    if (step.user !== undefined) return [{ type: 'message', ...id(step), role: 'user', content: step.user }];
    if (step.results !== undefined)
      return entries(step.results).map((r) => ({
        type: 'function_call_output',
        call_id: r.id,
        output: r.output ?? r.error,
      }));
    const items: Obj[] = [];
    if (isObject(step.reasoning)) {
      const summary = Array.isArray(step.reasoning.summary) ? step.reasoning.summary : [];
      items.push({
        type: 'reasoning',
        ...id(step.reasoning),
        summary: summary.map((s) => ({ type: 'summary_text', text: s })),
        encrypted_content: step.reasoning.encrypted ?? null,
      });
    }
    if (step.assistant !== undefined)
      items.push({ type: 'message', ...id(step.assistant), role: 'assistant', content: text(step.assistant) });
    for (const call of entries(step.calls))
      items.push({
        type: 'function_call',
        ...id(call),
        call_id: call.id,
        name: call.name,
        arguments: rawArguments(call),
      });
    if (isObject(step.custom_call))
      items.push({
        type: 'function_call',
        id: 'custom',
        call_id: step.custom_call.id,
        name: 'apply_patch',
        arguments: step.custom_call.input,
      });
    return items;
  });
  const tools = TOOL_NAMES.map((name) => ({ type: 'function', name, parameters: PARAMETERS, strict: false }));
  return { model: 'm', input, store: false, tools };
}
