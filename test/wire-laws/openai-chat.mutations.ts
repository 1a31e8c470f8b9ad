import { assign, at, contents, isDraft, type Mutation, one, remove } from './mutate.ts';
import type { Draft } from './render.ts';

const hasCalls = (message: Draft) => message.tool_calls !== undefined;
const isTool = (message: Draft) => message.role === 'tool';
const plain = (message: Draft) => message.role === 'assistant' && !hasCalls(message);
const calls = (body: Draft) => at(body, 'messages').flatMap((message) => at(message, 'tool_calls'));
const always = () => true;

/** Sets something inside one message, call or part. */
function set(
  name: string,
  of: (body: Draft) => Draft[],
  fits: (entry: Draft) => boolean,
  path: (string | number)[],
  value: unknown,
): Mutation {
  return { name, apply: (body, pick) => one(of(body), pick, fits, (entry) => assign(entry, path, value)) };
}

const messages = (body: Draft) => at(body, 'messages');
const images = (part: Draft) => part.type === 'image_url';

/** Sets something in the request itself. */
function top(name: string, path: (string | number)[], value: unknown): Mutation {
  return { name, apply: (body) => assign(body, path, value) };
}

const SCHEMA = ['tools', 0, 'function', 'parameters'];

export const CHAT_MUTATIONS: readonly Mutation[] = [
  { name: 'a result is missing', apply: (body, pick) => one(messages(body), pick, isTool, remove) },
  {
    name: 'a result comes twice',
    apply: (body, pick) =>
      one(messages(body), pick, isTool, (entry, list) => list.splice(list.indexOf(entry), 0, { ...entry })),
  },
  { name: 'a call message is missing', apply: (body, pick) => one(messages(body), pick, hasCalls, remove) },
  {
    name: 'a user speaks between call and result',
    apply: (body, pick) =>
      one(messages(body), pick, isTool, (entry, list) =>
        list.splice(list.indexOf(entry), 0, { role: 'user', content: 'psst' }),
      ),
  },
  {
    name: 'an assistant message stands between call and result',
    apply: (body, pick) =>
      one(messages(body), pick, hasCalls, (entry, list) =>
        list.splice(list.indexOf(entry) + 1, 0, { role: 'assistant', content: 'well' }),
      ),
  },
  {
    name: 'an orphan result opens the conversation',
    apply: (body) => messages(body).unshift({ role: 'tool', tool_call_id: 'call_gone', content: 'old' }) > 0,
  },
  {
    name: 'the last call is open',
    apply: (body) =>
      messages(body).push({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_z', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
      }) > 0,
  },
  {
    name: 'a call id is used again',
    apply: (body, pick) =>
      one(messages(body), pick, hasCalls, (entry, list) => {
        const [first] = at(entry, 'tool_calls');
        const copy = { ...entry, tool_calls: [{ ...first }] };
        list.push(copy, { role: 'tool', tool_call_id: first?.id, content: 'again' });
      }),
  },
  set('a result names another call', messages, isTool, ['tool_call_id'], 'call_other'),
  set('a result names no call', messages, isTool, ['tool_call_id'], undefined),
  set('a result has no content', messages, isTool, ['content'], undefined),
  set('a call has no id', calls, always, ['id'], undefined),
  set('a call has an empty id', calls, always, ['id'], ''),
  set('a call id is too long', calls, always, ['id'], 'x'.repeat(41)),
  set('a call has no type', calls, always, ['type'], undefined),
  set('a call name has a dot', calls, always, ['function', 'name'], 'multi_tool_use.parallel'),
  set('a call name is empty', calls, always, ['function', 'name'], ''),
  set('a call name is too long', calls, always, ['function', 'name'], 'n'.repeat(65)),
  set('arguments are cut off', calls, always, ['function', 'arguments'], '{"path": "a'),
  set('arguments are an array', calls, always, ['function', 'arguments'], '[1]'),
  set('arguments are empty', calls, always, ['function', 'arguments'], ''),
  set('arguments are an object, not text', calls, always, ['function', 'arguments'], { path: 'a' }),
  set('tool_calls is empty', messages, hasCalls, ['tool_calls'], []),
  set('an assistant says nothing', messages, plain, ['content'], null),
  set('an assistant says empty text', messages, plain, ['content'], ''),
  set('an assistant carries reasoning_content', messages, plain, ['reasoning_content'], 'hm'),
  set('a user says nothing', messages, (m) => m.role === 'user', ['content'], null),
  set('a user says an empty list', messages, (m) => m.role === 'user', ['content'], []),
  set('a user has a call', messages, (m) => m.role === 'user', ['tool_calls'], []),
  set('a role is unknown', messages, always, ['role'], 'function_result'),
  set('a role is missing', messages, always, ['role'], undefined),
  set('an image is a bitmap', contents, images, ['image_url', 'url'], 'data:image/bmp;base64,Qk0='),
  set('an image is not base64', contents, images, ['image_url', 'url'], 'data:image/png;base64,***'),
  set('an image is empty', contents, images, ['image_url', 'url'], 'data:image/png;base64,'),
  set('an image is a file path', contents, images, ['image_url', 'url'], '/tmp/a.png'),
  set('an image is flat', contents, images, ['image_url'], 'https://example.com/a.png'),
  set("a part has another vendor's type", contents, images, ['type'], 'input_image'),
  set('a text part is empty', contents, (part) => part.type === 'text', ['text'], ''),
  top('messages is empty', ['messages'], []),
  top('model is missing', ['model'], undefined),
  top('tools is empty', ['tools'], []),
  top('a tool name has a space', ['tools', 0, 'function', 'name'], 'read file'),
  top('a tool name is not ASCII', ['tools', 0, 'function', 'name'], 'wetter_für_köln'),
  top('two tools share a name', ['tools', 1, 'function', 'name'], 'read_file'),
  top('a tool is flat', ['tools', 0], {
    type: 'function',
    name: 'read_file',
    parameters: { type: 'object', properties: {} },
  }),
  top('a schema is an array', [...SCHEMA, 'type'], 'array'),
  top('a schema has no type', [...SCHEMA, 'type'], undefined),
  top('a schema has no properties', [...SCHEMA, 'properties'], undefined),
  top('a schema has a union at the root', [...SCHEMA, 'anyOf'], [{ type: 'object', properties: {} }]),
  top('an array schema has no items', [...SCHEMA, 'properties', 'tags', 'items'], undefined),
  top('a property has no known type', [...SCHEMA, 'properties', 'path', 'type'], 'text'),
  top('a required property does not exist', [...SCHEMA, 'required'], ['ghost']),
  top('a reference points at nothing', [...SCHEMA, 'properties', 'path'], { $ref: '#/$defs/gone' }),
  top('strict without all required', ['tools', 0, 'function', 'strict'], true),
  top('a choice names no tool', ['tool_choice'], { type: 'function', function: { name: 'ghost' } }),
  top('a choice is unknown', ['tool_choice'], 'any'),
  {
    name: '142 tools',
    apply: (body) =>
      assign(
        body,
        ['tools'],
        Array.from({ length: 142 }, (_, i) => ({
          type: 'function',
          function: { name: `t${i}`, parameters: { type: 'object', properties: {} } },
        })),
      ),
  },
  { name: 'choice without tools', apply: (body) => assign(body, ['tools'], undefined) },
  top('both output limits', ['max_tokens'], 100),
  top('a limit of zero', ['max_completion_tokens'], 0),
  top('a temperature of 3', ['temperature'], 3),
  top('stream options without a stream', ['stream'], false),
  top('a system field', ['system'], 'You are helpful.'),
  top('an unknown setting', ['top_k'], 5),
  {
    name: 'a tool result holds an image',
    apply: (body, pick) =>
      one(messages(body), pick, isTool, (entry) =>
        assign(entry, ['content'], [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]),
      ),
  },
  {
    name: 'a message is text',
    apply: (body) => (isDraft(messages(body)[0]) ? assign(body, ['messages', 0], 'hello') : false),
  },
];
