import { assign, at, contents, type Mutation, one, remove } from './mutate.ts';
import type { Draft } from './render.ts';

const messages = (body: Draft) => at(body, 'messages');
const type = (name: string) => (block: Draft) => block.type === name;
const always = () => true;
const thinks = (body: Draft) => body.thinking !== undefined;
const holds = (name: string) => (message: Draft) => at(message, 'content').some(type(name));

/** Sets something inside one message or block. */
function set(
  name: string,
  of: (body: Draft) => Draft[],
  fits: (entry: Draft) => boolean,
  path: (string | number)[],
  value: unknown,
): Mutation {
  return { name, apply: (body, pick) => one(of(body), pick, fits, (entry) => assign(entry, path, value)) };
}

/** Sets something in the request itself, where `fits`. */
function top(
  name: string,
  path: (string | number)[],
  value: unknown,
  fits: (body: Draft) => boolean = always,
): Mutation {
  return { name, apply: (body) => fits(body) && assign(body, path, value) };
}

/** Changes the blocks of one message that holds such a block. */
function blocks(name: string, kind: string, change: (list: Draft[], block: Draft) => void): Mutation {
  return {
    name,
    apply: (body, pick) =>
      one(messages(body), pick, holds(kind), (message) => {
        const list = at(message, 'content');
        const block = list.find(type(kind));
        if (block !== undefined) change(list, block);
      }),
  };
}

const MARK = { type: 'ephemeral' };
const SCHEMA = ['tools', 0, 'input_schema'];

export const ANTHROPIC_MUTATIONS: readonly Mutation[] = [
  blocks('a result is missing', 'tool_result', (list, block) => {
    remove(block, list);
    list.push({ type: 'text', text: 'nothing' });
  }),
  blocks('a result comes twice', 'tool_result', (list, block) => list.unshift({ ...block })),
  blocks('text stands before the results', 'tool_result', (list) => list.unshift({ type: 'text', text: 'so:' })),
  blocks('a result for a call that is not there', 'tool_result', (list, block) =>
    list.unshift({ ...block, tool_use_id: 'toolu_gone' }),
  ),
  blocks('a call is missing', 'tool_use', (list, block) => {
    remove(block, list);
    list.push({ type: 'text', text: 'calling' });
  }),
  blocks('a call comes twice', 'tool_use', (list, block) => list.push({ ...block })),
  blocks('thinking is the last block', 'thinking', (list, block) => list.push({ ...block })),
  { name: 'a call message is missing', apply: (body, pick) => one(messages(body), pick, holds('tool_use'), remove) },
  {
    name: 'a result message is missing',
    apply: (body, pick) => one(messages(body), pick, holds('tool_result'), remove),
  },
  {
    name: 'the last call is open',
    apply: (body) =>
      messages(body).push({
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_z', name: 'read_file', input: {} }],
      }) > 0,
  },
  {
    name: 'results are split over two messages',
    apply: (body, pick) =>
      one(messages(body), pick, holds('tool_result'), (entry, list) =>
        list.splice(list.indexOf(entry), 0, { role: 'user', content: [{ type: 'text', text: 'wait' }] }),
      ),
  },
  {
    name: 'the assistant speaks first',
    apply: (body) => messages(body).unshift({ role: 'assistant', content: 'Arr.' }) > 0,
  },
  {
    name: 'the final assistant text ends in a line break',
    apply: (body) => messages(body).push({ role: 'assistant', content: 'Roses are red,\n' }) > 0,
  },
  {
    name: 'two user messages in a row',
    apply: (body, pick) =>
      one(
        messages(body),
        pick,
        (m) => m.role === 'user',
        (entry, list) => list.splice(list.indexOf(entry), 0, { role: 'user', content: 'and?' }),
      ),
  },
  set('a role is system', messages, always, ['role'], 'system'),
  set('a role is tool', messages, always, ['role'], 'tool'),
  set('a message is empty', messages, always, ['content'], []),
  set('a message is blank', messages, always, ['content'], ' \n'),
  set('a message has an id', messages, always, ['id'], 'msg_1'),
  set('a text is empty', contents, type('text'), ['text'], ''),
  set('a text is blank', contents, type('text'), ['text'], ' '),
  set('a text is missing', contents, type('text'), ['text'], undefined),
  set('a block type is unknown', contents, always, ['type'], 'input_text'),
  set('a call id has a colon', contents, type('tool_use'), ['id'], 'list_dir:0'),
  set('a call id is empty', contents, type('tool_use'), ['id'], ''),
  set('a call name has a dot', contents, type('tool_use'), ['name'], 'a.b'),
  set('an input is text', contents, type('tool_use'), ['input'], '{"path":"a"}'),
  set('an input is an array', contents, type('tool_use'), ['input'], [1, 2]),
  set('an input is null', contents, type('tool_use'), ['input'], null),
  set('an input is missing', contents, type('tool_use'), ['input'], undefined),
  set('a result names another call', contents, type('tool_result'), ['tool_use_id'], 'toolu_other'),
  set('a result holds blank text', contents, type('tool_result'), ['content'], [{ type: 'text', text: '' }]),
  set('a result is blank', contents, type('tool_result'), ['content'], ' \n'),
  set('a result carries a status word', contents, type('tool_result'), ['status'], 'ok'),
  set(
    'a result holds a call',
    contents,
    type('tool_result'),
    ['content'],
    [{ type: 'tool_use', id: 'a', name: 'b', input: {} }],
  ),
  {
    name: 'an error result says nothing',
    apply: (body, pick) =>
      one(contents(body), pick, type('tool_result'), (block) => Object.assign(block, { is_error: true, content: [] })),
  },
  set('a thinking block has no signature', contents, type('thinking'), ['signature'], undefined),
  set('a thinking block has a blank signature', contents, type('thinking'), ['signature'], ''),
  set('a thinking block was emptied', contents, type('thinking'), ['thinking'], ''),
  set('a thinking block is marked for the cache', contents, type('thinking'), ['cache_control'], MARK),
  set('an image is a bitmap', contents, type('image'), ['source', 'media_type'], 'image/bmp'),
  set('an image is a data URL', contents, type('image'), ['source', 'data'], 'data:image/png;base64,iVBORw0KGgo='),
  set('an image is empty', contents, type('image'), ['source', 'data'], ''),
  set('an image has no media type', contents, type('image'), ['source', 'media_type'], undefined),
  {
    name: 'an image in an assistant message',
    apply: (body, pick) =>
      one(
        messages(body),
        pick,
        (m) => m.role === 'assistant',
        (message) =>
          at(message, 'content').unshift({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
      ),
  },
  {
    name: 'a server result without its call',
    apply: (body, pick) =>
      one(
        messages(body),
        pick,
        (m) => m.role === 'assistant',
        (message) =>
          at(message, 'content').splice(-1, 0, {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_9',
            content: [],
          }),
      ),
  },
  {
    name: 'five cache marks',
    apply: (body) => {
      const marked = contents(body).filter((block) => block.type !== 'thinking');
      for (const block of marked) block.cache_control = MARK;
      for (const tool of at(body, 'tools')) tool.cache_control = MARK;
      return marked.length + at(body, 'tools').length + (body.system === undefined ? 0 : 1) > 4;
    },
  },
  top('a mark of an unknown kind', ['tools', 0, 'cache_control'], { type: 'persistent' }),
  top(
    'thinking is missing from the open tool turn',
    ['thinking'],
    { type: 'enabled', budget_tokens: 1024 },
    (body) => !thinks(body) && messages(body).slice(-1).some(holds('tool_result')),
  ),
  top('a thinking budget of 100', ['thinking', 'budget_tokens'], 100, thinks),
  top('a thinking budget as large as the limit', ['thinking', 'budget_tokens'], 4096, thinks),
  top('a temperature beside thinking', ['temperature'], 0.2, thinks),
  top('a forced tool beside thinking', ['tool_choice'], { type: 'any' }, thinks),
  top('max_tokens is missing', ['max_tokens'], undefined),
  top('max_tokens is zero', ['max_tokens'], 0),
  top('messages is empty', ['messages'], []),
  top('a temperature of 1.5', ['temperature'], 1.5),
  top('system is blank', ['system'], '  '),
  top('system is a message', ['system'], [{ role: 'system', content: 'S' }]),
  top('tools is empty', ['tools'], []),
  top('a tool name has a space', ['tools', 0, 'name'], 'read file'),
  top('a tool name is too long', ['tools', 0, 'name'], 'n'.repeat(129)),
  top('two tools share a name', ['tools', 1, 'name'], 'read_file'),
  top("a tool has OpenAI's shape", ['tools', 0], { type: 'function', function: { name: 'read_file', parameters: {} } }),
  top('a schema has a union at the root', [...SCHEMA, 'oneOf'], [{ type: 'object' }]),
  top('a schema has no type', [...SCHEMA, 'type'], undefined),
  top('a required property does not exist', [...SCHEMA, 'required'], ['ghost']),
  top('a choice is text', ['tool_choice'], 'auto'),
  top('a choice names no tool', ['tool_choice'], { type: 'tool', name: 'ghost' }),
  {
    name: 'calls without tools',
    apply: (body) =>
      messages(body).some(holds('tool_use')) &&
      assign(body, ['tools'], undefined) &&
      assign(body, ['tool_choice'], undefined),
  },
  top('an OpenAI setting', ['frequency_penalty'], 0),
];
