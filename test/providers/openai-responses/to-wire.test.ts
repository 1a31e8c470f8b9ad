import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResponsesOptions } from '../../../src/providers/openai-responses/options.ts';
import { toWire } from '../../../src/providers/openai-responses/to-wire.ts';
import type { AgentItem, ResponseRef } from '../../../src/transcript/items.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import type { Message, MessageRequest } from '../../../src/transcript/message.ts';
import { normalize } from '../../../src/transcript/normalize.ts';
import { toMessages } from '../../../src/transcript/to-messages.ts';
import { check, type ResponsesLaws } from '../../wire-laws/openai-responses.ts';
import { conversations, IMAGE, MEDIA, PIXEL, ResponseItems, user } from '../conversation.ts';

const SCOPE = { endpoint: 'https://api.openai.test/v1', account: 'acc', model: 'gpt-5' };
let responses = 0;
const answer = (extra: Partial<ResponseRef> = {}): ResponseItems =>
  new ResponseItems(
    { id: `r${responses++}`, provider: 'openai', model: 'gpt-5', api: 'openai-responses', ...extra },
    SCOPE,
  );
const enc = (n: number): JsonObject => ({ itemId: `rs_${n}`, encrypted: `gAAAA${n}`, summary: [`thought ${n}`] });

function request(items: readonly AgentItem[], extra: Partial<MessageRequest> = {}): MessageRequest {
  const messages = toMessages(normalize(items).items);
  const tools = ['read_file', 'web'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  }));
  return { model: SCOPE.model, messages, tools, ...extra };
}

/** The wire body, after a strict server would have taken it. */
function accepted(
  asked: MessageRequest,
  options: ResponsesOptions = {},
  laws: Partial<ResponsesLaws> = { reasoningModel: true },
) {
  const wire = toWire(asked, { scope: { ...SCOPE, model: asked.model }, provider: 'openai', media: MEDIA, options });
  expect(check(wire.body, laws)).toEqual([]);
  return { ...wire, input: wire.body.input as unknown as readonly (JsonObject & { type: string })[] };
}

const shapeOf = (input: readonly JsonObject[]): readonly string[] =>
  input.map(
    (item) =>
      (item.type === 'message' ? String(item.role) : String(item.type)) + (item.id === undefined ? '' : `(${item.id})`),
  );
const CALL = { id: 'call_1', name: 'read_file', args: { path: 'a' }, output: '3 C', data: { itemId: 'fc_1' } };

test('reasoning goes back encrypted and in order, with the ids of what it led to, and nothing is stored', () => {
  const items = [
    user('Weather?'),
    ...answer().reasoning('thought 1', enc(1)).text('Looking.', { itemId: 'msg_1' }).calls(CALL).items,
  ];
  const { body, input } = accepted(request(items));
  expect(shapeOf(input)).toEqual([
    'user',
    'reasoning(rs_1)',
    'assistant(msg_1)',
    'function_call(fc_1)',
    'function_call_output',
  ]);
  expect(input[1]).toEqual({
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'thought 1' }],
    encrypted_content: 'gAAAA1',
  });
  expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'], stream: true });
});

test('a reasoning item that nothing of its response follows is left out', () => {
  const { input } = accepted(request([user('Count.'), ...answer().reasoning('x', enc(9)).items, user('Well?')]));
  expect(shapeOf(input)).toEqual(['user', 'user']);
});

test('reasoning without encrypted content stays behind, and the ids of its response with it', () => {
  const items = [
    user('a'),
    ...answer()
      .reasoning('x', { itemId: 'rs_2', summary: ['x'] })
      .text('b', { itemId: 'msg_2' })
      .calls(CALL).items,
  ];
  const { input, losses } = accepted(request(items));
  expect(shapeOf(input)).toEqual(['user', 'assistant', 'function_call', 'function_call_output']);
  expect(losses).toMatchObject([{ code: 'reasoning', message: 1 }]);
  const stored = accepted(request(items), { store: true });
  expect(shapeOf(stored.input)).toEqual([
    'user',
    'reasoning(rs_2)',
    'assistant(msg_2)',
    'function_call(fc_1)',
    'function_call_output',
  ]);
  expect(stored.body.include).toBeUndefined();
});

test.each(['item_0123456789abcdef', 'custom', 'rs_5', 'fc_', '', '00000000-0000-4000-8000-000000000001'])(
  'the id %j, which this API did not issue for a message or call, is not sent',
  (itemId) => {
    const items = [
      user('u'),
      ...answer()
        .reasoning('t', enc(1))
        .text('t', { itemId })
        .calls({ ...CALL, data: { itemId } }).items,
    ];
    expect(shapeOf(accepted(request(items)).input).slice(2, 4)).toEqual(['assistant', 'function_call']);
  },
);

test('ids and reasoning of another endpoint, account or model are not sent', () => {
  const items = [user('u'), ...answer().reasoning('t', enc(1)).text('t', { itemId: 'msg_1' }).calls(CALL).items];
  const { input } = accepted({ ...request(items), model: 'gpt-5-mini' });
  expect(shapeOf(input)).toEqual(['user', 'assistant', 'function_call', 'function_call_output']);
});

test('a tool that this server ran goes back unchanged, one of another becomes a note', () => {
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'tide' } };
  const { input } = accepted(
    request([user('x'), ...answer().builtin('call', 'ws_1', 'web_search', item).text('Noon.').items, user('y')]),
    {},
    {},
  );
  expect(input[1]).toEqual(item);
  const lost = answer().reasoning('x', { itemId: 'rs_1' }).builtin('call', 'ws_1', 'web_search', item).text('Noon.');
  expect(shapeOf(accepted(request([user('x'), ...lost.items, user('y')])).input)).toEqual([
    'user',
    'assistant',
    'user',
  ]);
  const foreign = answer({ api: 'anthropic', provider: 'anthropic' })
    .builtin('call', 's', 'web_search', { type: 'server_tool_use', id: 's' })
    .text('Noon.');
  expect(shapeOf(accepted(request([user('x'), ...foreign.items, user('y')])).input)).toEqual([
    'user',
    'assistant',
    'assistant',
    'user',
  ]);
});

test('a free-form call and its result go back as such', () => {
  const items = [
    user('x'),
    ...answer().calls({
      id: 'call_p',
      name: 'apply_patch',
      args: { input: '*** Begin' },
      output: 'ok',
      data: { itemId: 'ctc_1', custom: true },
    }).items,
  ];
  const { input } = accepted(request(items));
  expect(input.slice(1)).toEqual([
    { type: 'custom_tool_call', call_id: 'call_p', name: 'apply_patch', input: '*** Begin' },
    { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' },
  ]);
});

test('servers whose models read their own reasoning get it as text before every call', () => {
  const deepseek = answer({ provider: 'deepseek' })
    .reasoning('two searches')
    .calls({ ...CALL, id: 'call_1' }, { ...CALL, id: 'call_2' });
  const wire = toWire(request([user('search'), ...deepseek.items]), {
    scope: SCOPE,
    provider: 'deepseek',
    options: { reasoning: 'text' },
  });
  expect(check(wire.body, { plainReasoning: true })).toEqual([]);
  expect(wire.body.input).toMatchObject([
    { role: 'user' },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'two searches' }] },
    { type: 'function_call', call_id: 'call_1' },
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'two searches' }] },
    { type: 'function_call', call_id: 'call_2' },
    { type: 'function_call_output', call_id: 'call_1' },
    { type: 'function_call_output', call_id: 'call_2' },
  ]);
});

test('text results are one string, images make a list, and nothing is "(no output)"', () => {
  const items = [
    user('x', IMAGE),
    ...answer().calls({ ...CALL, image: IMAGE }, { ...CALL, id: 'call_2', output: '' }).items,
  ];
  const { input } = accepted(request(items));
  const outputs = input.filter(({ type }) => type === 'function_call_output');
  expect(outputs).toMatchObject([
    {
      output: [
        { type: 'input_text', text: '3 C' },
        { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
      ],
    },
    { output: '(no output)' },
  ]);
});

test('a result that is not well says so in its text, once', () => {
  const failed = (output: string): string => {
    const items = answer()
      .calls({ ...CALL, output })
      .items.map(
        (item): AgentItem =>
          item.kind === 'tool_result_batch'
            ? { ...item, results: item.results.map((result) => ({ ...result, status: 'error' as const })) }
            : item,
      );
    return String(accepted(request([user('x'), ...items])).input.at(-1)?.output);
  };
  expect(failed('permission denied')).toBe('[error] permission denied');
  expect(failed('Error: ENOENT')).toBe('Error: ENOENT');
  expect(failed('')).toBe('[error] (no output)');
});

test('system messages become instructions, and a system message alone still asks for something', () => {
  const system: Message = { role: 'system', content: [{ type: 'text', text: 'Judge.' }] };
  const { body, input } = accepted({ ...request([]), messages: [system, system] });
  expect(body.instructions).toBe('Judge.\n\nJudge.');
  expect(shapeOf(input)).toEqual(['user']);
});

test.each([
  ['gpt-4o', { effort: 'high' }, undefined, undefined, 0.5],
  ['gpt-5', { effort: 'high' }, { effort: 'high', summary: 'auto' }, ['reasoning.encrypted_content'], undefined],
  ['gpt-5', 'off', { effort: 'minimal' }, ['reasoning.encrypted_content'], undefined],
  ['gpt-5.2', 'off', { effort: 'none' }, ['reasoning.encrypted_content'], undefined],
  ['o3', { budgetTokens: 20_000 }, { effort: 'high', summary: 'auto' }, ['reasoning.encrypted_content'], undefined],
  ['some-model', undefined, undefined, ['reasoning.encrypted_content'], 0.5],
] as const)('%s asked to think %j gets %j', (model, thinking, reasoning, include, temperature) => {
  const { body } = accepted({
    ...request([user('x')], { temperature: 0.5, ...(thinking === undefined ? {} : { thinking }) }),
    model,
  });
  expect(body.reasoning).toEqual(reasoning);
  expect(body.include).toEqual(include);
  expect(body.temperature).toBe(temperature);
});

test('tools are strict where that says the same, and a choice is passed on', () => {
  const { body } = accepted(request([user('x')], { toolChoice: { name: 'web' }, maxOutputTokens: 5 }));
  expect(body).toMatchObject({
    tools: [{ strict: true }, {}],
    tool_choice: { type: 'function', name: 'web' },
    max_output_tokens: 16,
  });
});

test('an output schema goes the native way', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  expect(accepted(request([user('x')], { outputSchema: { name: 'my out', schema } })).body.text).toEqual({
    format: { type: 'json_schema', name: 'my_out', schema: { ...schema, additionalProperties: false }, strict: true },
  });
});

const own = {
  provider: 'openai',
  api: 'openai-responses',
  scope: SCOPE,
  reasoning: (n: number) => ({ text: `thought ${n}`, data: enc(n) }),
} as const;
/** One run builds and checks up to a dozen requests. */
const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 100) };

test('any conversation is accepted by a strict server of a reasoning model', () => {
  fc.assert(
    fc.property(conversations(own), (items) => {
      accepted(request(items));
    }),
    RUNS,
  );
});

test('the items of a request are a byte prefix of those of the next one', () => {
  fc.assert(
    fc.property(conversations(own), (items) => {
      const all = normalize(items).items;
      const ends = all.flatMap((item, index) =>
        item.kind === 'user_message' || item.kind === 'tool_result_batch' ? [index + 1] : [],
      );
      const inputs = ends.map((end) => {
        const { body } = toWire(
          { ...request([]), messages: toMessages(all.slice(0, end)) },
          { scope: SCOPE, provider: 'openai', media: MEDIA },
        );
        return (body.input as readonly object[]).map((item) => JSON.stringify(item));
      });
      for (const [index, input] of inputs.entries()) {
        const next = inputs[index + 1];
        // A request of blank messages alone has a stand-in; nobody sends one.
        if (next !== undefined && !input.at(-1)?.includes('Please go on'))
          expect(next.slice(0, input.length)).toEqual(input);
      }
    }),
    RUNS,
  );
});
