import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccumulator } from '../../src/providers/accumulator.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/adapter.ts';
import { openaiChat } from '../../src/providers/openai-chat/adapter.ts';
import type { DialectName } from '../../src/providers/openai-chat/dialects.ts';
import { createResponsesProvider } from '../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { handOver } from '../../src/transcript/hand-over.ts';
import type { AgentItem, ContentBlock } from '../../src/transcript/items.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { check as checkAnthropic } from '../wire-laws/anthropic.ts';
import { DIALECT_LAWS } from '../wire-laws/dialects.ts';
import { check as checkChat } from '../wire-laws/openai-chat.ts';
import { check as checkResponses } from '../wire-laws/openai-responses.ts';
import * as anthropic from './anthropic/recorded.ts';
import { IMAGE, MEDIA, user } from './conversation.ts';
import * as responses from './openai-responses/recorded.ts';
import { sse, startWireServer, type WireServer } from './wire-server.ts';

/** One model in the relay: how it is reached, what a strict server of its kind objects to, how it answers step `n`. */
interface Runner {
  readonly provider: Provider;
  readonly model: string;
  readonly images: boolean;
  readonly thinking: MessageRequest['thinking'];
  readonly check: (body: unknown) => readonly string[];
  readonly answer: (n: number, calls: boolean) => string;
  /** What of its own step `n` must stand in its later requests, as it came. */
  readonly own: (n: number) => string | undefined;
}

const SIGNATURE = (n: number): string => Buffer.from(`signature of step ${n}`).toString('base64');
let server: WireServer;
let runners: Readonly<Record<'chat' | 'anthropic' | 'responses' | 'deepseek', Runner>>;

beforeAll(async () => {
  server = await startWireServer();
  const openai = (): OpenAI => new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 0 });
  const chat = (id: string, dialect: DialectName): Provider =>
    openaiChat({ id, client: openai(), dialect, endpoint: `https://${id}.test`, account: id });
  runners = {
    chat: {
      provider: chat('openai', 'openai'),
      model: 'gpt-4o',
      images: true,
      thinking: undefined,
      check: (body) => checkChat(body),
      answer: (n, calls) => chatAnswer(n, calls, false),
      own: () => undefined,
    },
    deepseek: {
      provider: chat('deepseek', 'deepseek'),
      model: 'deepseek-reasoner',
      images: false,
      thinking: undefined,
      check: (body) => checkChat(body, { ...DIALECT_LAWS['deepseek-thinking'] }),
      answer: (n, calls) => chatAnswer(n, calls, true),
      own: (n) => `"reasoning_content":"deep thought ${n}"`,
    },
    anthropic: {
      provider: createAnthropicProvider({ client: new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }) }),
      model: 'claude-opus-4-1',
      images: true,
      thinking: { budgetTokens: 2000 },
      check: (body) => checkAnthropic(body),
      answer: anthropicAnswer,
      own: (n) => `"signature":"${SIGNATURE(n)}"`,
    },
    responses: {
      provider: createResponsesProvider({ id: 'openai-responses', client: openai() }),
      model: 'gpt-5',
      images: true,
      thinking: { effort: 'medium' },
      check: (body) => checkResponses(body, { reasoningModel: true }),
      answer: responsesAnswer,
      own: (n) => `"encrypted_content":"enc-${n}"`,
    },
  };
});
afterAll(() => server.close());

const argumentsOf = (n: number, which: string): string => JSON.stringify({ path: `${which}-${n}` });

function chatAnswer(n: number, calls: boolean, reasons: boolean): string {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const call = (index: number, which: string): JsonObject => ({
    tool_calls: [
      {
        index,
        id: `call_${which}_${n}`,
        type: 'function',
        function: { name: 'read_file', arguments: argumentsOf(n, which) },
      },
    ],
  });
  const said = [
    ...(reasons ? [chunk({ role: 'assistant', content: null, reasoning_content: `deep thought ${n}` })] : []),
    chunk({ content: `Chat step ${n}.` }),
    ...(calls ? [chunk(call(0, 'a')), chunk(call(1, 'b'))] : []),
    chunk({}, calls ? 'tool_calls' : 'stop'),
  ];
  return `${said.join('')}data: [DONE]\n\n`;
}

function anthropicAnswer(n: number, calls: boolean): string {
  return sse([
    anthropic.start(undefined, `msg_${n}`),
    ...anthropic.thinking(0, `claude thought ${n}`, SIGNATURE(n)),
    ...anthropic.serverToolUse(1, `srvtoolu_${n}`, 'tides'),
    ...anthropic.searchResult(2, `srvtoolu_${n}`),
    ...anthropic.text(3, `Claude step ${n}.`),
    ...(calls ? anthropic.toolUse(4, `toolu_a${n}`, 'read_file', argumentsOf(n, 'a')) : []),
    ...(calls ? anthropic.toolUse(5, `toolu_b${n}`, 'read_file', argumentsOf(n, 'b')) : []),
    ...anthropic.end(calls ? 'tool_use' : 'end_turn'),
  ]);
}

function responsesAnswer(n: number, calls: boolean): string {
  return sse([
    responses.created,
    ...responses.reasoning(0, `rs_${n}`, `enc-${n}`, `gpt thought ${n}`),
    ...responses.search(1, `ws_${n}`),
    ...responses.message(2, `msg_${n}`, 'output_text', `Responses step ${n}.`),
    ...(calls ? responses.call(3, `fc_a${n}`, `call_${n}_a`, 'read_file', argumentsOf(n, 'a')) : []),
    ...(calls ? responses.call(4, `fc_b${n}`, `call_${n}_b`, 'read_file', argumentsOf(n, 'b')) : []),
    responses.completed(),
  ]);
}

const TOOLS = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
];

/** The request that `runner` gets for these items. */
function requestFor(runner: Runner, items: readonly AgentItem[]): MessageRequest {
  const { provider, model, images, thinking } = runner;
  const scope = provider.scope(model);
  const accepts = { image: images, audio: false, file: false };
  const { items: given } = handOver(items, { scope, api: provider.api, provider: provider.id, accepts });
  const messages = toMessages(normalize(given).items, { target: scope });
  return { model, messages, tools: TOOLS, maxOutputTokens: 4096, ...(thinking === undefined ? {} : { thinking }) };
}

/** Lets `runner` make step `n`; returns its items. */
async function step(
  runner: Runner,
  items: readonly AgentItem[],
  n: number,
  calls: boolean,
): Promise<readonly AgentItem[]> {
  const { provider, model } = runner;
  server.answer({ chunks: [runner.answer(n, calls)] });
  const response = { provider: provider.id, api: provider.api, model };
  let minted = 0;
  const mintCallId = (): string => `step-${n}-${minted++}`;
  const accumulator = createAccumulator({ response, scope: provider.scope(model), mintCallId });
  const options = { signal: AbortSignal.timeout(20_000), media: MEDIA };
  for await (const event of provider.stream(requestFor(runner, items), options)) accumulator.add(event);
  return accumulator.finish().items;
}

/** The results of the last batch; one of them shows an image. */
function resultsOf(items: readonly AgentItem[], n: number): readonly AgentItem[] {
  const batch = items.at(-1);
  if (batch?.kind !== 'tool_call_batch') return [];
  const results = batch.calls.map(({ callId }, index) => {
    const content: ContentBlock[] = [{ type: 'text', text: `result ${n}.${index}` }];
    if (index === 1) content.push({ type: 'image', media: IMAGE });
    return { callId, status: 'ok' as const, content };
  });
  return [{ kind: 'tool_result_batch', schemaVersion: 1, results }];
}

/** Who makes which step, and whether it calls tools: most hand-overs happen inside an open tool turn. */
const RELAY = [
  ['chat', true],
  ['anthropic', true],
  ['responses', true],
  ['deepseek', true],
  ['anthropic', true],
  ['chat', false],
  ['responses', true],
  ['deepseek', false],
  ['deepseek', true],
  ['anthropic', false],
  ['responses', true],
  ['chat', false],
] as const;

test('twelve steps handed from model to model: every request is accepted, and each model gets its own reasoning back', async () => {
  const items: AgentItem[] = [user('Look at this and begin.', IMAGE)];
  const made: { readonly who: keyof typeof runners; readonly n: number }[] = [];
  for (const [n, [who, calls]] of RELAY.entries()) {
    const runner = runners[who];
    const got = await step(runner, items, n, calls);
    const body = server.requests.at(-1);
    expect(runner.check(body), `step ${n}, ${who}`).toEqual([]);
    const told = JSON.stringify(runner.provider.wire(requestFor(runner, items), MEDIA));
    expect(server.bodies.at(-1), `step ${n}, byte for byte as wire() tells it`).toBe(told);
    const text = JSON.stringify(body);
    for (const earlier of made) {
      const mark = runners[earlier.who].own(earlier.n);
      if (mark !== undefined)
        expect(text.includes(mark), `step ${earlier.n} of ${earlier.who} in step ${n} of ${who}`).toBe(
          earlier.who === who,
        );
    }
    items.push(...got, ...resultsOf(got, n));
    if (!calls) items.push(user(`Then go on from step ${n}.`, IMAGE));
    made.push({ who, n });
    expect(validate(items, { tail: 'closed' })).toEqual([]);
  }
  expect(items.filter(({ kind }) => kind === 'tool_call_batch')).toHaveLength(8);
  expect(items.filter(({ kind }) => kind === 'builtin_tool_event').length).toBeGreaterThan(6);
});

test('the finished conversation is accepted by every one of them', async () => {
  const items: AgentItem[] = [user('Look at this and begin.', IMAGE)];
  for (const [n, [who, calls]] of RELAY.entries()) {
    const got = await step(runners[who], items, n, calls);
    items.push(...got, ...resultsOf(got, n));
    if (!calls) items.push(user('Go on.'));
    for (const [name, runner] of Object.entries(runners)) {
      const body = runner.provider.wire(requestFor(runner, items), MEDIA);
      expect(runner.check(JSON.parse(JSON.stringify(body))), `after step ${n}, for ${name}`).toEqual([]);
    }
  }
});
