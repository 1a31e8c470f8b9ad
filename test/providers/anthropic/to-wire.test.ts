import fc from 'fast-check';
import { expect, test } from 'vitest';
import { thinkingReplay } from '../../../src/providers/anthropic/thinking.ts';
import { type AnthropicBody, type ToWireContext, toWire } from '../../../src/providers/anthropic/to-wire.ts';
import type { AgentItem, ResponseRef } from '../../../src/transcript/items.ts';
import type { Message, MessageRequest } from '../../../src/transcript/message.ts';
import { normalize } from '../../../src/transcript/normalize.ts';
import { toMessages } from '../../../src/transcript/to-messages.ts';
import { check } from '../../wire-laws/anthropic.ts';
import { conversations, IMAGE, MEDIA, PIXEL, ResponseItems, user } from '../conversation.ts';

const SCOPE = { endpoint: 'https://api.anthropic.test', account: 'acc', model: 'claude-opus-4-1' };
const CONTEXT: ToWireContext = { scope: SCOPE, media: MEDIA };
const SIGNATURE = 'EqQBCgIYAhIkc2lnbmF0dXJlLWJ5dGVzLWZvci10ZXN0cw==';
let responses = 0;
const ref = (id = `r${responses++}`): ResponseRef => ({
  id,
  provider: 'anthropic',
  model: SCOPE.model,
  api: 'anthropic',
});
const answer = (): ResponseItems => new ResponseItems(ref(), SCOPE);
const system = (text: string): Message => ({ role: 'system', content: [{ type: 'text', text }] });

function request(items: readonly AgentItem[], extra: Partial<MessageRequest> = {}): MessageRequest {
  const messages = toMessages(normalize(items).items);
  const tools = ['read_file', 'get_time', 'web'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object', properties: {} },
  }));
  return { model: SCOPE.model, messages, tools, maxOutputTokens: 4096, ...extra };
}

/** The wire body, after a strict server would have taken it. */
function accepted(asked: MessageRequest, context: ToWireContext = CONTEXT) {
  const { body, losses } = toWire(asked, context);
  expect(check(body)).toEqual([]);
  return { body, losses };
}

function shapeOf(
  messages: readonly { role: string; content: string | readonly { type: string }[] }[],
): readonly string[] {
  return messages.map(
    ({ role, content }) =>
      `${role}[${typeof content === 'string' ? 'string' : content.map(({ type }) => type).join(' ')}]`,
  );
}

test('all system messages become one text, and what is no text there is told', () => {
  const messages: Message[] = [
    system('A'),
    {
      role: 'system',
      content: [
        { type: 'image', media: IMAGE },
        { type: 'text', text: 'B' },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
  ];
  const { body, losses } = accepted({ ...request([]), messages });
  expect(body.system).toMatchObject([{ type: 'text', text: 'A\n\nB' }]);
  expect(losses).toEqual([{ code: 'system_block', message: 1, detail: 'image in a system message' }]);
});

test('a system message alone still asks for something', () => {
  const { body } = accepted({ ...request([]), messages: [system('Judge 42.')] });
  expect(shapeOf(body.messages)).toEqual(['user[text]']);
});

test('interleaved thinking goes back in native order, byte for byte, with what is redacted', () => {
  const items = [
    user('go'),
    ...answer()
      .reasoning('one', thinkingReplay('one', SIGNATURE))
      .reasoning('', { redacted: 'EmwKAhgB' })
      .text('Looking.')
      .reasoning('two', thinkingReplay('two', SIGNATURE))
      .calls(
        { id: 'toolu_1', name: 'read_file', args: { path: 'a' }, output: 'A' },
        { id: 'toolu_2', name: 'get_time', args: {}, output: '' },
      ).items,
  ];
  const { body } = accepted(request(items, { thinking: { budgetTokens: 2000 } }));
  expect(shapeOf(body.messages)).toEqual([
    'user[text]',
    'assistant[thinking redacted_thinking text thinking tool_use tool_use]',
    'user[tool_result tool_result]',
  ]);
  expect(body.messages[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'one', signature: SIGNATURE });
  expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 2000 });
});

test('a signed block whose text was cleared or changed goes whole; one that came without text goes back', () => {
  const call = { id: 'toolu_1', name: 'get_time', args: {}, output: '10:00' };
  for (const [text, data, kept] of [
    ['', { signature: SIGNATURE }, false],
    ['', thinkingReplay('was here', SIGNATURE), false],
    ['altered', thinkingReplay('original', SIGNATURE), false],
    ['unsigned', {}, false],
    ['blank signature', { signature: '' }, false],
    ['', thinkingReplay('', SIGNATURE), true],
    ['as it was', thinkingReplay('as it was', SIGNATURE), true],
  ] as const) {
    const { body } = toWire(request([user('go'), ...answer().reasoning(text, data).calls(call).items]), CONTEXT);
    expect(shapeOf(body.messages)[1], `${text} ${JSON.stringify(data)}`).toBe(
      kept ? 'assistant[thinking tool_use]' : 'assistant[tool_use]',
    );
  }
});

test('an endpoint that gives no signatures gets its thinking back as it came', () => {
  const items = [
    user('go'),
    ...answer().reasoning('hm', thinkingReplay('hm', '')).calls({ id: 'toolu_1', name: 'web', args: {}, output: '1' })
      .items,
  ];
  const { body } = toWire(request(items), { ...CONTEXT, options: { unsignedThinking: 'replay' } });
  expect(body.messages[1]?.content).toMatchObject([{ type: 'thinking', thinking: 'hm', signature: '' }, {}]);
});

test('reasoning of another model is left out, and a thinking budget waits until the tool turn that it began has ended', () => {
  const elsewhere = { endpoint: 'https://deepseek.test', account: 'd', model: 'deepseek' };
  const foreign = new ResponseItems({ ...ref('d1'), provider: 'deepseek', api: 'openai-chat' }, elsewhere);
  foreign
    .reasoning('First I look.', { reasoning_content: 'First I look.' })
    .calls({ id: 'call_00_abc', name: 'read_file', args: {}, output: 'x' });
  const open = accepted(request([user('plan'), ...foreign.items], { thinking: { budgetTokens: 2000 } }));
  expect(open.body.thinking).toBeUndefined();
  expect(open.losses.map(({ code }) => code)).toEqual(['reasoning', 'setting']);
  const next = accepted(
    request([user('plan'), ...foreign.items, ...answer().text('Done.').items, user('more')], {
      thinking: { budgetTokens: 2000 },
    }),
  );
  expect(next.body.thinking).toEqual({ type: 'enabled', budget_tokens: 2000 });
});

const THINKING: readonly (readonly [Partial<MessageRequest>, AnthropicBody['thinking'], string])[] = [
  [{ thinking: { budgetTokens: 100 } }, { type: 'enabled', budget_tokens: 1024 }, 'less than the least is the least'],
  [
    { thinking: { budgetTokens: 99_999 } },
    { type: 'enabled', budget_tokens: 3276 },
    'too much leaves a fifth for the answer',
  ],
  [{ thinking: { effort: 'medium' } }, { type: 'enabled', budget_tokens: 3276 }, 'words are budgets on older models'],
  [{ thinking: { budgetTokens: 2000 }, maxOutputTokens: 1000 }, undefined, 'no room at all'],
  [{ thinking: { budgetTokens: 2000 }, toolChoice: 'required' }, undefined, 'a forced tool excludes it'],
  [{ thinking: 'off' }, { type: 'disabled' }, 'off is off'],
  [{}, undefined, "the model's default"],
];

test.each(THINKING)('thinking %j is %j, because %s', (extra, thinking, _why) => {
  const { body } = accepted(request([user('hi')], { temperature: 0.5, ...extra }));
  expect(body.thinking).toEqual(thinking);
  expect(body.temperature).toBe(thinking?.type === 'enabled' ? undefined : 0.5);
});

test('newer models think adaptively, steered by a word', () => {
  const model = 'claude-opus-4-6';
  const { body } = accepted({ ...request([user('hi')], { thinking: { effort: 'low' } }), model });
  expect(body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
  expect(accepted({ ...request([user('hi')], { temperature: 0.5 }), model }).body).not.toHaveProperty('temperature');
});

test('all results of a batch stand first in one user message, images among them, and what the user said meanwhile follows', () => {
  const items = [
    user('look'),
    ...answer().calls(
      { id: 'toolu_1', name: 'web', args: {}, output: '<html>', image: IMAGE },
      { id: 'toolu_2', name: 'web', args: {}, output: ' \n' },
    ).items,
    user('here is my own', IMAGE),
  ];
  const { body } = accepted(request(items));
  expect(shapeOf(body.messages)).toEqual([
    'user[text]',
    'assistant[tool_use tool_use]',
    'user[tool_result tool_result text image]',
  ]);
  expect(body.messages[2]?.content).toMatchObject([
    {
      content: [
        { type: 'text', text: '<html>' },
        { type: 'image', source: { data: PIXEL } },
      ],
    },
    { content: [{ type: 'text', text: '(no output)' }] },
    {},
    {},
  ]);
});

test('results come first in their message, even where a list of messages has them in another order', () => {
  const [asked, called, results] = toMessages([
    user('look'),
    ...answer().calls({ id: 'toolu_1', name: 'web', args: {}, output: '<html>' }).items,
  ]);
  if (asked === undefined || called === undefined || results === undefined) throw new TypeError('three messages');
  const meanwhile: Message = { role: 'user', content: [{ type: 'text', text: 'meanwhile' }] };
  const { body } = accepted({ ...request([]), messages: [asked, called, meanwhile, results] });
  expect(shapeOf(body.messages)).toEqual(['user[text]', 'assistant[tool_use]', 'user[tool_result text]']);
});

test('results that are not ok say so, and media that are gone or not taken become a note', () => {
  const items = [
    ...answer().calls({
      id: 'toolu_1',
      name: 'web',
      args: {},
      output: 'boom',
      image: { ...IMAGE, sha256: 'f'.repeat(64) },
    }).items,
  ];
  const failed = items.map(
    (item): AgentItem =>
      item.kind === 'tool_result_batch'
        ? { ...item, results: item.results.map((result) => ({ ...result, status: 'error' as const })) }
        : item,
  );
  const { body, losses } = accepted(request([user('x'), ...failed]));
  expect(body.messages[2]?.content).toMatchObject([
    { is_error: true, content: [{ text: 'boom' }, { text: expect.stringContaining('no longer stored') }] },
  ]);
  expect(losses).toMatchObject([{ code: 'media', message: 2 }]);
  const blind = accepted(request([user('x', IMAGE)]), { ...CONTEXT, options: { takesImages: () => false } });
  expect(blind.body.messages[0]?.content).toMatchObject([
    {},
    { type: 'text', text: expect.stringContaining('takes no images') },
  ]);
});

test('blank texts are left out, and roles alternate all the same', () => {
  const items = [
    user('hi'),
    ...answer().text('\n\n').items,
    user('read a'),
    ...answer().text(' ').calls({ id: 'toolu_a', name: 'read_file', args: {}, output: 'A' }).items,
  ];
  const { body } = accepted(request(items));
  expect(shapeOf(body.messages)).toEqual(['user[text text]', 'assistant[tool_use]', 'user[tool_result]']);
});

test('the user has the first word and the last', () => {
  const { body } = accepted(request([...answer().text('Arr, the map is here.\n').items]));
  expect(shapeOf(body.messages)).toEqual(['user[text]', 'assistant[text]', 'user[text]']);
});

test('a paused response ends the request unchanged, but for white space at its very end', () => {
  const paused = answer()
    .text('Searching.')
    .builtin('call', 'srvtoolu_1', 'web_search', {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: { query: 'tides' },
    });
  const { body } = accepted(request([user('tides?'), ...paused.items]));
  expect(body.messages[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'text', text: 'Searching.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } },
    ],
  });
  expect(body.messages).toHaveLength(2);
});

test('a paused response that ends in text loses the white space at its very end', () => {
  const paused = answer()
    .builtin('call', 'srvtoolu_1', 'web_search', {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: {},
    })
    .builtin('result', 'srvtoolu_1', 'web_search', {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [],
    })
    .text('Found it, reading on:\n');
  const { body } = accepted(request([user('tides?'), ...paused.items]));
  expect(body.messages.at(-1)?.content).toMatchObject([{}, {}, { text: 'Found it, reading on:' }]);
});

test('a server tool goes back with its result, also from the next response; half a pair does not', () => {
  const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const result = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  const split = [
    user('x'),
    ...answer()
      .builtin('call', 'srvtoolu_1', 'web_search', call)
      .calls({ id: 'toolu_1', name: 'get_time', args: {}, output: '1' }).items,
    ...answer().builtin('result', 'srvtoolu_1', 'web_search', result).text('Noon.').items,
    user('thanks'),
  ];
  expect(shapeOf(accepted(request(split)).body.messages)).toEqual([
    'user[text]',
    'assistant[server_tool_use tool_use]',
    'user[tool_result]',
    'assistant[web_search_tool_result text]',
    'user[text]',
  ]);
  const half = [
    user('x'),
    ...answer().text('Let me see.').builtin('call', 'srvtoolu_1', 'web_search', call).items,
    user('never mind'),
  ];
  const { body, losses } = accepted(request(half));
  expect(shapeOf(body.messages)).toEqual(['user[text]', 'assistant[text]', 'user[text]']);
  expect(losses).toMatchObject([{ code: 'builtin_tool' }]);
});

test('a tool that another provider ran becomes a note, never a call', () => {
  const other = new ResponseItems(
    { ...ref('o'), provider: 'openai', api: 'openai-responses' },
    { ...SCOPE, endpoint: 'https://openai.test' },
  );
  other
    .builtin('call', 'ws_1', 'web_search', { type: 'web_search_call', id: 'ws_1', status: 'completed' })
    .text('High tide at noon.');
  const { body } = accepted(request([user('x'), ...other.items, user('and tomorrow?')]));
  expect(shapeOf(body.messages)).toEqual(['user[text]', 'assistant[text text]', 'user[text]']);
  expect(JSON.stringify(body)).not.toContain('tool_use_id');
});

test('input that was no object goes back as one, and ids are legal and unique', () => {
  const items = answer().calls(
    { id: 'fc|very odd', name: 'read_file', args: {}, output: 'a' },
    { id: '', name: 'read_file', args: {}, output: 'b' },
  ).items;
  const odd = items.map(
    (item): AgentItem =>
      item.kind === 'tool_call_batch'
        ? {
            ...item,
            calls: item.calls.map((call) => ({ ...call, rawArguments: '[1,2', argumentsError: 'not valid JSON' })),
          }
        : item,
  );
  accepted(request([user('x'), ...odd]));
});

test('a history with calls declares its tools even where none is offered, and forbids them', () => {
  const { body } = accepted(
    request([user('x'), ...answer().calls({ id: 'toolu_1', name: 'web', args: {}, output: '1' }).items], { tools: [] }),
  );
  expect(body).toMatchObject({ tools: [{ name: 'web' }], tool_choice: { type: 'none' } });
});

test.each([
  ['none', { type: 'none' }],
  ['required', { type: 'any' }],
  [{ name: 'web' }, { type: 'tool', name: 'web' }],
  ['auto', undefined],
] as const)('tool choice %j is %j', (toolChoice, wire) => {
  expect(accepted(request([user('x')], { toolChoice })).body.tool_choice).toEqual(wire);
});

test('an output schema goes the native way, with closed objects', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } } },
    required: ['a'],
  };
  const { body } = accepted(request([user('x')], { outputSchema: { name: 'out', schema } }));
  expect(body.output_config?.format).toMatchObject({
    type: 'json_schema',
    schema: { additionalProperties: false, properties: { a: { items: { additionalProperties: false } } } },
  });
});

const own = {
  provider: 'anthropic',
  api: 'anthropic',
  scope: SCOPE,
  reasoning: (n: number) =>
    n % 3 === 0
      ? { text: '', data: { redacted: `R${n}` } }
      : { text: `thought ${n}`, data: thinkingReplay(`thought ${n}`, SIGNATURE) },
} as const;
/** One run builds and checks up to a dozen requests. */
const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 100) };

/** System, tools and messages as one list of blocks, without cache marks. */
function blocksOf(body: ReturnType<typeof toWire>['body']): readonly string[] {
  const unmarked = ({ cache_control: _, ...block }: { cache_control?: unknown }): string => JSON.stringify(block);
  const messages = body.messages.flatMap(({ role, content }) =>
    (content as readonly object[]).map((block) => `${role} ${unmarked(block)}`),
  );
  return [...(body.system as readonly object[]).map(unmarked), ...(body.tools ?? []).map(unmarked), ...messages];
}

test('any conversation is accepted by a strict server, with at most four cache marks', () => {
  fc.assert(
    fc.property(conversations(own), fc.boolean(), (items, thinks) => {
      const { body } = toWire(request(items, thinks ? { thinking: { budgetTokens: 2000 } } : {}), CONTEXT);
      expect(check(body)).toEqual([]);
      expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
    }),
    RUNS,
  );
});

test('the blocks of a request are a byte prefix of those of the next one', () => {
  fc.assert(
    fc.property(conversations(own), (items) => {
      const all = normalize(items).items;
      const ends = all.flatMap((item, index) =>
        item.kind === 'user_message' || item.kind === 'tool_result_batch' ? [index + 1] : [],
      );
      const bodies = ends.map((end) => {
        const messages = [system('You help.'), ...toMessages(all.slice(0, end))];
        return blocksOf(toWire({ ...request([]), messages }, CONTEXT).body);
      });
      for (const [index, body] of bodies.entries()) {
        const next = bodies[index + 1];
        // A request whose last message is blank has a stand-in at its end; nobody sends one.
        if (next !== undefined && !body.at(-1)?.includes('Please go on'))
          expect(next.slice(0, body.length)).toEqual(body);
      }
    }),
    RUNS,
  );
});

test('what was marked for the cache in one request is marked at its place in the next', () => {
  const turns = Array.from(
    { length: 6 },
    (_, i) => answer().calls({ id: `toolu_${i}`, name: 'web', args: {}, output: `${i}` }).items,
  );
  const marked = (n: number): readonly number[] => {
    const { body } = accepted({ ...request([user('go'), ...turns.slice(0, n).flat()]) });
    return body.messages.flatMap(({ content }, index) =>
      JSON.stringify(content).includes('cache_control') ? [index] : [],
    );
  };
  expect(marked(3)).toEqual([4, 6]);
  expect(marked(4)).toEqual([6, 8]);
  const off = toWire(request([user('x')]), { ...CONTEXT, options: { promptCache: 'off' } });
  expect(JSON.stringify(off)).not.toContain('cache_control');
});
