import { assign, at, type Mutation, one, remove } from './mutate.ts';
import type { Draft } from './render.ts';

const items = (body: Draft) => at(body, 'input');
const type = (name: string) => (item: Draft) => item.type === name;
const user = (item: Draft) => item.role === 'user';
const said = (item: Draft) => item.role === 'assistant';
const parts = (body: Draft) => items(body).flatMap((item) => at(item, 'content'));

/** Sets something inside one item or part. */
function set(
  name: string,
  of: (body: Draft) => Draft[],
  fits: (entry: Draft) => boolean,
  path: (string | number)[],
  value: unknown,
): Mutation {
  return { name, apply: (body, pick) => one(of(body), pick, fits, (entry) => assign(entry, path, value)) };
}

/** Sets something in the request itself. */
function top(name: string, path: (string | number)[], value: unknown): Mutation {
  return { name, apply: (body) => assign(body, path, value) };
}

/** Removes one item of a kind. */
function drop(name: string, kind: string): Mutation {
  return { name, apply: (body, pick) => one(items(body), pick, type(kind), remove) };
}

const SCHEMA = ['tools', 0, 'parameters'];

export const RESPONSES_MUTATIONS: readonly Mutation[] = [
  drop('an output is missing', 'function_call_output'),
  drop('a call is missing', 'function_call'),
  {
    name: 'an output comes twice',
    apply: (body, pick) =>
      one(items(body), pick, type('function_call_output'), (entry, list) =>
        list.splice(list.indexOf(entry), 0, { ...entry }),
      ),
  },
  {
    name: 'an output stands before its call',
    apply: (body, pick) =>
      one(items(body), pick, type('function_call_output'), (entry, list) => {
        remove(entry, list);
        list.unshift(entry);
      }),
  },
  {
    name: 'a user speaks between call and output',
    apply: (body, pick) =>
      one(items(body), pick, type('function_call_output'), (entry, list) =>
        list.splice(list.indexOf(entry), 0, { role: 'user', content: 'psst' }),
      ),
  },
  {
    name: 'a call id is used again',
    apply: (body, pick) =>
      one(items(body), pick, type('function_call'), (entry, list) =>
        list.push({ ...entry, id: 'fc_again' }, { type: 'function_call_output', call_id: entry.call_id, output: 'x' }),
      ),
  },
  {
    name: 'the last call is open',
    apply: (body) =>
      items(body).push({ type: 'function_call', call_id: 'call_z', name: 'read_file', arguments: '{}' }) > 0,
  },
  {
    name: 'reasoning stands alone at the end',
    apply: (body) => items(body).push({ type: 'reasoning', id: 'rs_z', summary: [], encrypted_content: 'gAAAA' }) > 0,
  },
  {
    name: 'reasoning stands before a user message',
    apply: (body, pick) =>
      one(items(body), pick, user, (entry, list) =>
        list.splice(list.indexOf(entry), 0, { type: 'reasoning', id: 'rs_z', summary: [], encrypted_content: 'gAAAA' }),
      ),
  },
  { name: 'an item reference', apply: (body) => items(body).push({ type: 'item_reference', id: 'msg_1' }) > 0 },
  {
    name: 'an item id comes twice',
    apply: (body, pick) =>
      one(
        items(body),
        pick,
        (item) => item.id !== undefined,
        (entry, list) =>
          list.push({ type: 'message', id: entry.id, role: 'assistant', status: 'completed', content: 'x' }),
      ),
  },
  {
    name: 'a custom output answers a function call',
    apply: (body, pick) =>
      one(items(body), pick, type('function_call_output'), (entry) =>
        assign(entry, ['type'], 'custom_tool_call_output'),
      ),
  },
  set('a call has an item id of another kind', items, type('function_call'), ['id'], 'call_1'),
  set('a reasoning item has an item id of another kind', items, type('reasoning'), ['id'], 'item_1'),
  set('a reasoning item has no id', items, type('reasoning'), ['id'], undefined),
  set('a reasoning item has no summary', items, type('reasoning'), ['summary'], undefined),
  set('a reasoning summary is text', items, type('reasoning'), ['summary'], 'thinking'),
  set('reasoning is not encrypted', items, type('reasoning'), ['encrypted_content'], undefined),
  set('encrypted reasoning is null', items, type('reasoning'), ['encrypted_content'], null),
  set('encrypted reasoning is empty', items, type('reasoning'), ['encrypted_content'], ''),
  set('a message has an item id of another kind', items, said, ['id'], 'rs_00'),
  set('a call id is empty', items, type('function_call'), ['call_id'], ''),
  set('a call id is too long', items, type('function_call'), ['call_id'], 'c'.repeat(65)),
  set('a call id is missing', items, type('function_call'), ['call_id'], undefined),
  set('a call has no name', items, type('function_call'), ['name'], undefined),
  set('a call name has a dot', items, type('function_call'), ['name'], 'a.b'),
  set('arguments are cut off', items, type('function_call'), ['arguments'], '{"path": "a'),
  set('arguments are an object, not text', items, type('function_call'), ['arguments'], {}),
  set('a call has a made-up status', items, type('function_call'), ['status'], 'ok'),
  set('an output names another call', items, type('function_call_output'), ['call_id'], 'call_other'),
  set('an output is missing', items, type('function_call_output'), ['output'], undefined),
  set('an output is an object', items, type('function_call_output'), ['output'], { ok: true }),
  set(
    'an output holds output text',
    items,
    type('function_call_output'),
    ['output'],
    [{ type: 'output_text', text: 'x' }],
  ),
  set('a role is tool', items, user, ['role'], 'tool'),
  set('a message is empty', items, user, ['content'], []),
  set('a user message holds output text', items, user, ['content'], [{ type: 'output_text', text: 'x' }]),
  set('a user message holds chat parts', items, user, ['content'], [{ type: 'text', text: 'x' }]),
  set('an assistant message holds input text', items, said, ['content'], [{ type: 'input_text', text: 'x' }]),
  set('an assistant message is empty', items, said, ['content'], []),
  set('a text is empty', parts, (part) => part.type === 'input_text' || part.type === 'output_text', ['text'], ''),
  set('an image is nested', parts, type('input_image'), ['image_url'], { url: 'https://example.com/a.png' }),
  set('an image is a bitmap', parts, type('input_image'), ['image_url'], 'data:image/bmp;base64,Qk0='),
  set('an image is missing', parts, type('input_image'), ['image_url'], undefined),
  set('an item type is unknown', items, (item) => item.type !== undefined, ['type'], 'tool_use'),
  top('input is empty', ['input'], []),
  top('input is missing', ['input'], undefined),
  top('messages instead of input', ['messages'], []),
  top('the limit is below 16', ['max_output_tokens'], 5),
  top('max_tokens', ['max_tokens'], 100),
  top('a temperature of 3', ['temperature'], 3),
  top('encrypted reasoning is not asked for', ['include'], undefined),
  top('an effort word that is not one', ['reasoning', 'effort'], 'maximal'),
  top('a previous response that is not stored', ['previous_response_id'], 'resp_1'),
  top('tools is empty', ['tools'], []),
  top('a tool has the chat shape', ['tools', 0], {
    type: 'function',
    function: { name: 'read_file', parameters: { type: 'object', properties: {} } },
  }),
  top('a tool name has a space', ['tools', 0, 'name'], 'read file'),
  top('two tools share a name', ['tools', 1, 'name'], 'read_file'),
  top('strict without all required', ['tools', 0, 'strict'], true),
  top('a schema has a union at the root', [...SCHEMA, 'oneOf'], [{ type: 'object', properties: {} }]),
  top('a schema has no properties', [...SCHEMA, 'properties'], undefined),
  top('an array schema has no items', [...SCHEMA, 'properties', 'tags', 'items'], undefined),
  top('a choice has the chat shape', ['tool_choice'], { type: 'function', function: { name: 'read_file' } }),
  top('a choice names no tool', ['tool_choice'], { type: 'function', name: 'ghost' }),
  top('a text format without a name', ['text'], {
    format: { type: 'json_schema', schema: { type: 'object', properties: {} } },
  }),
];
