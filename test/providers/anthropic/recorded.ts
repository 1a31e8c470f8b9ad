import type { JsonObject } from '../../../src/transcript/json.ts';

/** Recorded shapes of Messages API streams, put together from parts. */
export function start(usage: JsonObject = { input_tokens: 25, output_tokens: 1 }, id = 'msg_01'): JsonObject {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return { type: 'message_start', message };
}

export function block(
  index: number,
  content_block: JsonObject,
  ...deltas: readonly JsonObject[]
): readonly JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export function text(index: number, ...pieces: readonly string[]): readonly JsonObject[] {
  return block(index, { type: 'text', text: '' }, ...pieces.map((piece) => ({ type: 'text_delta', text: piece })));
}

export function thinking(index: number, words: string, signature: string): readonly JsonObject[] {
  const deltas = words === '' ? [] : [{ type: 'thinking_delta', thinking: words }];
  return block(index, { type: 'thinking', thinking: '', signature: '' }, ...deltas, {
    type: 'signature_delta',
    signature,
  });
}

export function toolUse(index: number, id: string, name: string, ...pieces: readonly string[]): readonly JsonObject[] {
  const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return block(index, { type: 'tool_use', id, name, input: {} }, ...deltas);
}

export function serverToolUse(index: number, id: string, query: string): readonly JsonObject[] {
  const deltas = [{ type: 'input_json_delta', partial_json: JSON.stringify({ query }) }];
  return block(index, { type: 'server_tool_use', id, name: 'web_search', input: {} }, ...deltas);
}

export function searchResult(index: number, tool_use_id: string): readonly JsonObject[] {
  const found = {
    type: 'web_search_result',
    url: 'https://example.test/tides',
    title: 'Tides',
    encrypted_content: 'Eo8BCi',
    page_age: null,
  };
  return block(index, { type: 'web_search_tool_result', tool_use_id, content: [found] });
}

export function end(
  stop_reason: string | null,
  usage: JsonObject = { output_tokens: 20 },
  extra: JsonObject = {},
): readonly JsonObject[] {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...extra }, usage },
    { type: 'message_stop' },
  ];
}

/** A response with all that can stand in one: thinking twice, redacted thinking, text, a server tool, parallel calls. */
export const RICH: readonly JsonObject[] = [
  start({ input_tokens: 100, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 2 }),
  { type: 'ping' },
  ...thinking(0, 'First I look. ✓ 你好', 'EqQBCgIYAhIk+/sig=='),
  ...block(1, { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' }),
  ...serverToolUse(2, 'srvtoolu_01', 'tides'),
  ...searchResult(3, 'srvtoolu_01'),
  ...text(4, 'High tide is at ', 'noon — 正午 🌊.'),
  ...thinking(5, '', 'bare-signature=='),
  ...toolUse(6, 'toolu_a', 'read_file', '{"pa', 'th": "caf\\u00', 'e9.txt"}'),
  ...toolUse(7, 'toolu_b', 'get_time', ''),
  { type: 'ping' },
  ...end('tool_use', { output_tokens: 77, output_tokens_details: { thinking_tokens: 12 } }),
];
