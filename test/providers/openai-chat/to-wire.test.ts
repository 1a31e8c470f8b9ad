import { expect, test } from 'vitest';
import { DIALECTS, type Dialect, type DialectName } from '../../../src/providers/openai-chat/dialects.ts';
import { type ChatWire, toWire } from '../../../src/providers/openai-chat/to-wire.ts';
import type { ReplayScope, ToolResultStatus } from '../../../src/transcript/items.ts';
import type { AssistantTurnMessage, Block, Message, MessageRequest } from '../../../src/transcript/message.ts';
import { IMAGE, MEDIA, PIXEL } from '../conversation.ts';
import { WEATHER } from './fake-server.ts';

const SCOPE: ReplayScope = { endpoint: 'https://api.test/v1', account: 'a', model: 'm' };
const REPLAY = { scope: SCOPE, data: { field: 'reasoning_content' } };
const FOREIGN = { scope: { ...SCOPE, account: 'b' }, data: { field: 'reasoning_content' } };

const user = (...content: Block[]): Message => ({ role: 'user', content });
const text = (words: string): Block => ({ type: 'text', text: words });
const assistant = (...content: Block[]): AssistantTurnMessage => ({ role: 'assistant', content });
const call = (id: string, extra: Partial<Extract<Block, { type: 'tool_use' }>> = {}): Block => ({
  type: 'tool_use',
  callId: `c-${id}`,
  nativeId: id,
  name: 'get_weather',
  input: { city: 'Oslo' },
  ...extra,
});
const results = (...ids: string[]): Message => ({
  role: 'tool',
  content: ids.map((id) => ({
    type: 'tool_result',
    callId: `c-${id}`,
    name: 'get_weather',
    status: 'ok',
    content: [{ type: 'text', text: `result ${id}` }],
  })),
});
const thought = (words: string, replay = REPLAY): Block => ({ type: 'thinking', text: words, replay });

function wire(
  messages: readonly Message[],
  dialect: DialectName | Dialect = 'generic',
  extra: Partial<MessageRequest> = {},
): ChatWire {
  const request: MessageRequest = { model: 'm', tools: [WEATHER], messages, ...extra };
  const rules = typeof dialect === 'string' ? DIALECTS[dialect] : dialect;
  return toWire(request, { scope: { ...SCOPE, model: request.model }, dialect: rules, media: MEDIA });
}

test('text and calls are one message, results follow in call order', () => {
  const { body } = wire([user(text('hi')), assistant(text('Let me see.'), call('a'), call('b')), results('b', 'a')]);
  expect(body.messages).toEqual([
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { id: 'b', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'result a' },
    { role: 'tool', tool_call_id: 'b', content: 'result b' },
  ]);
});

test('a result without its call never goes out, and is reported', () => {
  const { body, losses } = wire([results('x'), user(text('hi'))]);
  expect(body.messages).toEqual([{ role: 'user', content: 'hi' }]);
  expect(losses).toMatchObject([{ code: 'orphan_result', message: 0 }]);
});

test('a result that is not well says so, unless its own text does', () => {
  const failed = (status: ToolResultStatus, words: string): unknown =>
    wire([
      user(text('hi')),
      assistant(call('a')),
      {
        role: 'tool',
        content: [{ type: 'tool_result', callId: 'c-a', name: 'x', status, content: [{ type: 'text', text: words }] }],
      },
    ]).body.messages[2]?.content;
  expect(failed('error', 'permission denied')).toBe('[error] permission denied');
  expect(failed('error', 'Error: no such file')).toBe('Error: no such file');
  expect(failed('timed_out', '')).toBe('[timed out] (no output)');
  expect(failed('ok', 'permission denied')).toBe('permission denied');
});

test('a call without its result is answered all the same', () => {
  const { body } = wire([user(text('hi')), assistant(call('a'), call('b')), results('a')]);
  expect(body.messages.map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'tool']);
});

test('an assistant message with neither text nor calls is never sent', () => {
  expect(wire([user(text('hi')), assistant(text(' ')), assistant(), user(text('again'))]).body.messages).toHaveLength(
    2,
  );
});

test.each([
  ['null', { content: null }],
  ['empty', { content: '' }],
  ['omit', {}],
] as const)('content of a message with calls only is %s where the dialect says so', (emptyContent, expected) => {
  const { body } = wire([user(text('hi')), assistant(call('a')), results('a')], { ...DIALECTS.generic, emptyContent });
  const { role: _, tool_calls: __, ...rest } = body.messages[1] as { role: string; tool_calls?: unknown };
  expect(rest).toEqual(expected);
});

test('system messages become one at the head, whatever they are called', () => {
  const system = (words: string): Message => ({ role: 'system', content: [text(words)] });
  expect(wire([system('A'), user(text('hi')), system('B')]).body.messages[0]).toEqual({
    role: 'system',
    content: 'A\n\nB',
  });
  const developer: Dialect = { ...DIALECTS.generic, systemRole: 'developer' };
  expect(wire([system('A'), user(text('hi'))], developer).body.messages[0]).toEqual({
    role: 'developer',
    content: 'A',
  });
});

test('strict alternation joins neighbours and lets the user begin', () => {
  const strict: Dialect = { ...DIALECTS.generic, alternate: true };
  expect(wire([assistant(text('Hello')), user(text('a')), user(text('b'))], strict).body.messages).toEqual([
    { role: 'user', content: expect.stringContaining('earlier') },
    { role: 'assistant', content: 'Hello' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ]);
});

test('ids that a server refuses are mapped, those it takes stay', () => {
  const long = `fc_${'0'.repeat(50)}`;
  const { body } = wire([
    user(text('hi')),
    assistant(call('wait_job:79'), call(`${long}a`), call(`${long}b`)),
    results('wait_job:79', `${long}a`, `${long}b`),
  ]);
  const ids = body.messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : []));
  expect(ids[0]).toBe('wait_job:79');
  expect(new Set(ids).size).toBe(3);
  expect(ids.every((id) => id.length <= 40)).toBe(true);
  const mistral = wire([user(text('hi')), assistant(call('call_1')), results('call_1')], 'mistral').body.messages;
  expect(mistral[2]).toMatchObject({
    role: 'tool',
    name: 'get_weather',
    tool_call_id: expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
  });
});

test('one id on every turn goes out as many, each with its own result', () => {
  const turn = (n: number): Message[] => [
    assistant({ ...call('call_0'), callId: `c${n}` } as Block),
    {
      role: 'tool',
      content: [
        { type: 'tool_result', callId: `c${n}`, name: 'x', status: 'ok', content: [{ type: 'text', text: `r${n}` }] },
      ],
    },
  ];
  const { body } = wire([user(text('hi')), ...turn(1), ...turn(2), ...turn(3)]);
  const tools = body.messages.filter((m) => m.role === 'tool');
  expect(tools.map((m) => m.content)).toEqual(['r1', 'r2', 'r3']);
  expect(new Set(tools.map((m) => m.tool_call_id)).size).toBe(3);
});

test('Mistral hears the model between results and the next question, and the user last', () => {
  const roles = (...messages: Message[]): string[] => wire(messages, 'mistral').body.messages.map((m) => m.role);
  expect(roles(user(text('hi')), assistant(call('a')), results('a'), user(text('more')))).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  expect(roles(user(text('hi')), assistant(text('yes'))).at(-1)).toBe('user');
});

const TOOL_TURN: readonly Message[] = [
  user(text('hi')),
  assistant(thought('first'), call('a')),
  results('a'),
  assistant(thought('then'), text('3 C')),
  user(text('and?')),
];
const reasoningOf = (sent: ChatWire): unknown[] =>
  sent.body.messages.filter((m) => m.role === 'assistant').map((m) => Reflect.get(m, 'reasoning_content'));

test('reasoning goes back where the dialect has a place for it, and nowhere else', () => {
  expect(reasoningOf(wire(TOOL_TURN, 'deepseek', { model: 'm' }))).toEqual(['first', 'then']);
  for (const dialect of ['generic', 'openai', 'deepseek-r1'] as const) {
    const sent = wire(TOOL_TURN, dialect);
    expect(JSON.stringify(sent.body)).not.toMatch(/reasoning_content|first|then/);
    expect(sent.losses).toMatchObject([{ code: 'reasoning' }, { code: 'reasoning' }]);
  }
});

test('reasoning of another account does not go back', () => {
  const sent = wire([user(text('hi')), assistant(thought('secret', FOREIGN), call('a')), results('a')], 'deepseek');
  expect(JSON.stringify(sent.body)).not.toContain('secret');
});

const FOREIGN_TURN: readonly Message[] = [user(text('hi')), assistant(thought('x', FOREIGN), call('a')), results('a')];
const missing = (whenMissing: Dialect['reasoning']['whenMissing']): Dialect => ({
  ...DIALECTS.deepseek,
  reasoning: { ...DIALECTS.deepseek.reasoning, whenMissing },
});

test('missing reasoning: omit, placeholder, disable_thinking, fold_turn_to_text', () => {
  const on = { thinking: { effort: 'low' } } as const;
  expect(reasoningOf(wire(FOREIGN_TURN, missing('omit'), on))).toEqual([undefined]);
  expect(reasoningOf(wire(FOREIGN_TURN, missing('placeholder'), on))).toEqual(['(reasoning not available)']);
  const disabled = wire(FOREIGN_TURN, missing('disable_thinking'), on);
  expect(reasoningOf(disabled)).toEqual([undefined]);
  expect(disabled.body).toMatchObject({ thinking: { type: 'disabled' } });
  const folded = wire(FOREIGN_TURN, missing('fold_turn_to_text'), on).body.messages;
  expect(folded.map((m) => m.role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(folded)).not.toContain('tool_calls');
  expect(JSON.stringify(folded)).toContain('result a');
});

test('a model that does not think needs no stand-in', () => {
  expect(reasoningOf(wire(FOREIGN_TURN, 'deepseek', { model: 'deepseek-chat' }))).toEqual([undefined]);
  expect(reasoningOf(wire(FOREIGN_TURN, 'deepseek', { model: 'deepseek-v4-pro', thinking: 'off' }))).toEqual([
    undefined,
  ]);
  expect(reasoningOf(wire(FOREIGN_TURN, 'deepseek', { model: 'deepseek-v4-pro' }))).toEqual([
    '(reasoning not available)',
  ]);
});

test('Mistral gets its thinking back as one leading chunk', () => {
  const sent = wire([user(text('hi')), assistant(thought('2 plus 2'), text('Four.')), user(text('sure?'))], 'mistral');
  expect(sent.body.messages[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: '2 plus 2' }] },
      { type: 'text', text: 'Four.' },
    ],
  });
});

test("OpenRouter's details go back as they were put together", () => {
  const details = [{ type: 'reasoning.encrypted', data: 'xyz', index: 0 }];
  const block: Block = { type: 'thinking', text: 'hm', replay: { scope: SCOPE, data: { reasoning_details: details } } };
  expect(wire([user(text('hi')), assistant(block, text('yes'))], 'openrouter').body.messages[1]).toEqual({
    role: 'assistant',
    content: 'yes',
    reasoning_details: details,
  });
});

test("a call's signature goes back to its maker only, and Gemini 3 gets the documented stand-in for a foreign call", () => {
  const signature = { google: { thought_signature: 'sig' } };
  const signed = call('a', {
    replay: { scope: { ...SCOPE, model: 'gemini-3-pro' }, data: { extra_content: signature } },
  });
  const extras = (dialect: DialectName, model: string, ...calls: Block[]): unknown[] => {
    const message = wire([user(text('hi')), assistant(...calls), results('a', 'b')], dialect, { model }).body
      .messages[1];
    return message?.role === 'assistant' ? (message.tool_calls ?? []).map((c) => Reflect.get(c, 'extra_content')) : [];
  };
  expect(extras('gemini', 'gemini-3-pro', signed, call('b'))).toEqual([signature, undefined]);
  expect(extras('openai', 'gpt-5', signed)).toEqual([undefined]);
  expect(extras('gemini', 'gemini-3-pro', call('a'), call('b'))).toEqual([
    { google: { thought_signature: 'skip_thought_signature_validator' } },
    undefined,
  ]);
  expect(extras('gemini', 'gemini-2.5-pro', call('a'))).toEqual([undefined]);
});

test('images go as data URLs; those of results in a user message behind all results', () => {
  const image: Block = { type: 'image', media: IMAGE };
  const shown: Message = {
    role: 'tool',
    content: [
      {
        type: 'tool_result',
        callId: 'c-a',
        name: 'get_weather',
        status: 'ok',
        content: [{ type: 'image', media: IMAGE }],
      },
    ],
  };
  const url = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const { body } = wire([user(text('look'), image), assistant(call('a')), shown]);
  expect(body.messages[0]).toEqual({ role: 'user', content: [{ type: 'text', text: 'look' }, url] });
  expect(body.messages[2]).toMatchObject({ role: 'tool', content: '(see the attachment below)' });
  expect(body.messages[3]).toEqual({ role: 'user', content: [{ type: 'text', text: expect.any(String) }, url] });
});

test('media that a server does not take, or whose bytes are gone, become a note and a loss', () => {
  const gone: Block = { type: 'image', media: { ...IMAGE, sha256: 'f'.repeat(64) } };
  for (const [dialect, block] of [
    ['deepseek', { type: 'image', media: IMAGE } as Block],
    ['generic', gone],
  ] as const) {
    const { body, losses } = wire([user(block)], dialect);
    expect(body.messages[0]).toEqual({ role: 'user', content: expect.stringContaining('image/png') });
    expect(losses).toMatchObject([{ code: 'media', message: 0 }]);
  }
});

test('an empty list of tools is never sent; history with calls has them declared where proxies want it', () => {
  const history = [user(text('x')), assistant(call('c1')), results('c1'), user(text('Summarise.'))];
  const generic = wire(history, 'generic', { tools: [] }).body;
  expect(generic.tools).toMatchObject([{ function: { name: 'get_weather' } }]);
  expect(generic.tool_choice).toBe('none');
  expect(wire(history, 'openai', { tools: [] }).body).not.toHaveProperty('tools');
  expect(wire([user(text('x'))], 'generic', { tools: [] }).body).not.toHaveProperty('tools');
});

test('limits, usage and parallel calls are asked for in the words of each server', () => {
  const sent = (dialect: DialectName): object => wire([user(text('x'))], dialect, { maxOutputTokens: 9 }).body;
  expect(sent('openai')).toMatchObject({ max_completion_tokens: 9, stream_options: { include_usage: true } });
  expect(sent('openai')).not.toHaveProperty('max_tokens');
  expect(sent('generic')).toMatchObject({ max_tokens: 9 });
  expect(sent('mistral')).not.toHaveProperty('stream_options');
  expect(sent('qwen')).toMatchObject({ parallel_tool_calls: true });
});

test('thinking is switched in the words of each server', () => {
  const sent = (dialect: DialectName, thinking: MessageRequest['thinking'] & {}): object =>
    wire([user(text('x'))], dialect, { thinking }).body;
  const effort = (model: string, thinking: MessageRequest['thinking'] & {}): unknown =>
    wire([user(text('x'))], 'openai', { model, thinking }).body.reasoning_effort;
  expect(effort('gpt-5.1', { effort: 'high' })).toBe('high');
  expect([effort('gpt-5.1', 'off'), effort('gpt-5-mini', 'off'), effort('o4-mini', 'off')]).toEqual([
    'none',
    'minimal',
    'low',
  ]);
  expect(effort('gpt-4.1', { effort: 'high' })).toBeUndefined();
  expect(sent('deepseek', 'off')).toMatchObject({ thinking: { type: 'disabled' } });
  expect(sent('qwen', { budgetTokens: 500 })).toMatchObject({ enable_thinking: true, thinking_budget: 500 });
  expect(sent('openrouter', { effort: 'low' })).toMatchObject({ reasoning: { effort: 'low' } });
  expect(sent('vllm', 'off')).toMatchObject({ chat_template_kwargs: { enable_thinking: false } });
});

test('a fixed temperature is left out and reported', () => {
  const { body, losses } = wire([user(text('x'))], 'openai', { model: 'gpt-5.1', temperature: 0.2 });
  expect(body).not.toHaveProperty('temperature');
  expect(losses).toMatchObject([{ code: 'setting' }]);
  expect(wire([user(text('x'))], 'openai', { model: 'gpt-4.1', temperature: 0.2 }).body.temperature).toBe(0.2);
});

test('structured output goes natively where it can, else by a bare JSON mode and words', () => {
  const outputSchema = {
    name: 'answer',
    schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  };
  expect(wire([user(text('x'))], 'openai', { outputSchema }).body.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { name: 'answer' },
  });
  const deepseek = wire([user(text('x'))], 'deepseek', { outputSchema }).body;
  expect(deepseek.response_format).toEqual({ type: 'json_object' });
  expect(deepseek.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('JSON Schema') });
});

test('names that no wire takes get a legal stand-in, in tools and in history alike', () => {
  const dotted = { ...WEATHER, name: 'weather.get now' };
  const { body } = wire([user(text('x')), assistant(call('a', { name: 'weather.get now' })), results('a')], 'generic', {
    tools: [dotted],
    toolChoice: { name: 'weather.get now' },
  });
  const sent = JSON.stringify(body);
  expect(sent).not.toContain('weather.get now"');
  expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'weather_get_now' } });
  expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { name: 'weather_get_now' } }] });
});

test('lone surrogates do not get out', () => {
  const { body } = wire([user(text('a\uD800b'))]);
  expect(body.messages[0]?.content).toBe('a\uFFFDb');
});
