import type { JsonObject } from '../../../src/transcript/json.ts';

/** Recorded shapes of Responses API streams, put together from parts. */
export const RESPONSE: JsonObject = {
  id: 'resp_01',
  object: 'response',
  created_at: 1_750_000_000,
  status: 'in_progress',
  model: 'gpt-test',
  output: [],
  error: null,
  incomplete_details: null,
};

export const created: JsonObject = { type: 'response.created', response: RESPONSE };

function item(
  output_index: number,
  added: JsonObject,
  events: readonly JsonObject[],
  done: JsonObject,
): readonly JsonObject[] {
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...events.map((event) => ({ output_index, ...event })),
    { type: 'response.output_item.done', output_index, item: done },
  ];
}

export function reasoning(
  index: number,
  id: string,
  encrypted: string | null,
  ...paragraphs: readonly string[]
): readonly JsonObject[] {
  const summary = paragraphs.map((text) => ({ type: 'summary_text', text }));
  const deltas = paragraphs.flatMap((text, summary_index) => [
    {
      type: 'response.reasoning_summary_part.added',
      item_id: id,
      summary_index,
      part: { type: 'summary_text', text: '' },
    },
    ...[text.slice(0, 3), text.slice(3)].map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: id,
      summary_index,
      delta,
    })),
    { type: 'response.reasoning_summary_text.done', item_id: id, summary_index, text },
  ]);
  const done = { type: 'reasoning', id, summary, ...(encrypted === null ? {} : { encrypted_content: encrypted }) };
  return item(index, { type: 'reasoning', id, summary: [] }, deltas, done);
}

export function message(
  index: number,
  id: string,
  type: 'output_text' | 'refusal',
  ...pieces: readonly string[]
): readonly JsonObject[] {
  const whole = pieces.join('');
  const at = { item_id: id, content_index: 0 };
  const part = type === 'refusal' ? { type, refusal: whole } : { type, text: whole, annotations: [] };
  const events = [
    {
      type: 'response.content_part.added',
      ...at,
      part: type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [] },
    },
    ...pieces.map((delta) => ({ type: `response.${type}.delta`, ...at, delta })),
    { type: `response.${type}.done`, ...at, ...(type === 'refusal' ? { refusal: whole } : { text: whole }) },
    { type: 'response.content_part.done', ...at, part },
  ];
  const head = { type: 'message', id, role: 'assistant' };
  return item(index, { ...head, status: 'in_progress', content: [] }, events, {
    ...head,
    status: 'completed',
    content: [part],
  });
}

export function call(
  index: number,
  id: string,
  call_id: string,
  name: string,
  ...pieces: readonly string[]
): readonly JsonObject[] {
  const whole = pieces.join('');
  const head = { type: 'function_call', id, call_id, name };
  const events = [
    ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', item_id: id, delta })),
    { type: 'response.function_call_arguments.done', item_id: id, arguments: whole },
  ];
  return item(index, { ...head, arguments: '', status: 'in_progress' }, events, {
    ...head,
    arguments: whole,
    status: 'completed',
  });
}

export function search(index: number, id: string): readonly JsonObject[] {
  const head = { type: 'web_search_call', id };
  const steps = ['in_progress', 'searching', 'completed'].map((step) => ({
    type: `response.web_search_call.${step}`,
    item_id: id,
  }));
  return item(index, { ...head, status: 'in_progress' }, steps, {
    ...head,
    status: 'completed',
    action: { type: 'search', query: 'tides' },
  });
}

export function completed(
  usage: JsonObject | null = { input_tokens: 50, output_tokens: 20, total_tokens: 70 },
  output: readonly JsonObject[] = [],
): JsonObject {
  return { type: 'response.completed', response: { ...RESPONSE, status: 'completed', output, usage } };
}

export function incomplete(reason: string): JsonObject {
  const usage = { input_tokens: 50, output_tokens: 16, total_tokens: 66 };
  return {
    type: 'response.incomplete',
    response: { ...RESPONSE, status: 'incomplete', incomplete_details: { reason }, usage },
  };
}

/** The finished items of events, as a server lists them at the end. */
export function outputOf(events: readonly JsonObject[]): readonly JsonObject[] {
  return events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item as JsonObject] : []));
}

const PARTS: readonly JsonObject[] = [
  ...reasoning(0, 'rs_01', 'gAAAAenc+/=', 'First I look. ✓', 'Then I ask 你好.'),
  ...search(1, 'ws_01'),
  ...message(2, 'msg_01', 'output_text', 'High tide is at ', 'noon — 正午 🌊.'),
  ...reasoning(3, 'rs_02', 'gAAAAenc2'),
  ...call(4, 'fc_01', 'call_a', 'read_file', '{"pa', 'th": "caf\\u00', 'e9.txt"}'),
  ...call(5, 'fc_02', 'call_b', 'get_time', '{}'),
];

/** A response with all that can stand in one: reasoning twice, a builtin tool, text, parallel calls. */
export const RICH: readonly JsonObject[] = [
  created,
  { type: 'response.in_progress', response: RESPONSE },
  ...PARTS,
  completed(
    {
      input_tokens: 1050,
      input_tokens_details: { cached_tokens: 900 },
      output_tokens: 77,
      output_tokens_details: { reasoning_tokens: 12 },
      total_tokens: 1127,
    },
    outputOf(PARTS),
  ),
];
