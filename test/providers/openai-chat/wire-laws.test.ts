import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIALECTS, type DialectName } from '../../../src/providers/openai-chat/dialects.ts';
import { type ChatBody, toWire } from '../../../src/providers/openai-chat/to-wire.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import { normalize } from '../../../src/transcript/normalize.ts';
import { toMessages } from '../../../src/transcript/to-messages.ts';
import { DIALECT_LAWS } from '../../wire-laws/dialects.ts';
import { check } from '../../wire-laws/openai-chat.ts';
import { conversations, type Endpoint, MEDIA } from '../conversation.ts';
import { tool } from './fake-server.ts';

// Each run builds and checks all requests of a conversation for every dialect.
const RUNS = { numRuns: Math.ceil(Number(process.env.HOLDFAST_FC_RUNS ?? 1000) / 20) };

const NAMES = Object.keys(DIALECTS) as DialectName[];
/** Models that make a dialect's rules bite. */
const MODELS: Partial<Record<DialectName, string>> = { deepseek: 'deepseek-v4-pro', gemini: 'gemini-3-pro' };
const LAWS: Partial<Record<DialectName, string>> = { deepseek: 'deepseek-thinking' };

const endpoint = (name: DialectName): Endpoint => ({
  provider: name,
  api: 'openai-chat',
  scope: { endpoint: 'https://api.test/v1', account: 'a', model: MODELS[name] ?? 'test-model' },
  reasoning: (n) => ({ text: `thought ${n}`, data: { field: 'reasoning_content' } }),
});

function requestOf(name: DialectName, items: readonly AgentItem[], tools: boolean): MessageRequest {
  return {
    model: MODELS[name] ?? 'test-model',
    tools: tools ? [tool('read_file', { path: { type: 'string' } }), tool('files.list')] : [],
    messages: [{ role: 'system', content: [{ type: 'text', text: 'You help.' }] }, ...toMessages(items)],
  };
}

function build(name: DialectName, items: readonly AgentItem[], tools = true): ChatBody {
  return toWire(requestOf(name, items, tools), { scope: endpoint(name).scope, dialect: DIALECTS[name], media: MEDIA })
    .body;
}

const someone = endpoint('deepseek');
const conversation = conversations(someone).map((items) => normalize(items).items);
/** The same conversation as had with the dialect under test: replay data is in scope. */
function hadWith(name: DialectName, items: readonly AgentItem[]): readonly AgentItem[] {
  const text = JSON.stringify(items).replaceAll(
    `"model":"${someone.scope.model}"`,
    `"model":"${endpoint(name).scope.model}"`,
  );
  return JSON.parse(text) as readonly AgentItem[];
}

test('whatever was said, every server gets a request that it takes', () => {
  fc.assert(
    fc.property(conversation, fc.boolean(), (items, tools) => {
      for (const name of NAMES) {
        const laws = DIALECT_LAWS[LAWS[name] ?? name] ?? {};
        expect([name, check(build(name, hadWith(name, items), tools), laws)]).toEqual([name, []]);
        expect([name, check(build(name, items, tools), laws)]).toEqual([name, []]);
      }
    }),
    RUNS,
  );
});

/** The request as blocks, in the order in which a provider caches them. */
function blocks(body: ChatBody): readonly string[] {
  const messages = body.messages.flatMap((message) => {
    const { content, ...rest } = message;
    const parts = Array.isArray(content) ? content : [{ type: 'text', text: content ?? null }];
    // A user message may grow by parts; every other one is whole.
    if (message.role === 'user') return parts.map((part) => JSON.stringify({ role: 'user', part }));
    return [JSON.stringify({ ...rest, content: content ?? null })];
  });
  return [JSON.stringify(body.tools ?? null), ...messages];
}

test('the request of one step is a prefix of the next one, byte for byte, for every dialect', () => {
  fc.assert(
    fc.property(conversation, (raw) => {
      for (const name of NAMES) {
        const items = hadWith(name, raw);
        const ends = items.flatMap((item, i) =>
          item.kind === 'user_message' || item.kind === 'tool_result_batch' ? [i + 1] : [],
        );
        const bodies = ends.map((end) => blocks(build(name, items.slice(0, end))));
        for (const [index, body] of bodies.entries()) {
          const next = bodies[index + 1];
          // A request whose last message is blank has a stand-in at its end; nobody sends one.
          if (next === undefined || body.at(-1)?.includes('Please go on')) continue;
          if (!isDeepStrictEqual(next.slice(0, body.length), body)) expect([name, ...next]).toEqual([name, ...body]);
        }
      }
    }),
    RUNS,
  );
});
