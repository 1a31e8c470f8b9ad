import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, loadCatalog, type PriceTier } from '../../../src/providers/catalog.ts';
import { costUsd } from '../../../src/providers/catalog-cost.ts';
import { probeWindow } from '../../../src/providers/catalog-probe.ts';
import type { Usage } from '../../../src/transcript/message.ts';

let catalog: Catalog;
/** DeepSeek is cheaper by night, 16:30 to 00:30 UTC. */
let now = new Date('2025-06-01T12:00:00Z');
beforeAll(async () => {
  catalog = await loadCatalog({
    now: () => now,
    overrides: {
      'mycorp/*': { windowTokens: 32_000, abilities: { images: false } },
      'mycorp/big': { windowTokens: 64_000, prices: [{ fromInputTokens: 0, input: 1, output: 2 }] },
      'deepseek/deepseek-chat': { abilities: { images: true } },
    },
  });
});

const usage = (given: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...given,
});

test.each([
  ['anthropic/claude-opus-4-1', 200_000, 32_000, 15],
  ['anthropic/claude-sonnet-4-6', 1_000_000, undefined, 3],
  ['openai/gpt-5', 400_000, 128_000, 1.25],
  ['openai/gpt-5.2', 400_000, 128_000, 1.75],
  ['openai/gpt-4o', 128_000, 16_384, 2.5],
  ['deepseek/deepseek-chat', 128_000, 8192, 0.27],
  ['gemini/gemini-2.5-pro', 1_048_576, 65_536, 1.25],
  ['mistral/mistral-large-latest', 131_072, 16_384, 2],
  ['openrouter/anthropic/claude-sonnet-4', 200_000, 64_000, 3],
  ['offline/extractive', 1_000_000, 32_000, 0],
])(
  '%s has a window of %i, an output limit of %s and costs %s a million',
  (name, windowTokens, maxOutputTokens, input) => {
    const facts = catalog.facts(name);
    expect(facts.windowTokens).toBe(windowTokens);
    expect(facts.maxOutputTokens).toBe(maxOutputTokens);
    expect(facts.prices?.[0].input).toBe(input);
  },
);

test('a price is that of the moment of the call', () => {
  const price = () => catalog.costUsd(usage({ inputTokens: 1_000_000 }), 'deepseek/deepseek-chat');
  const byDay = price();
  now = new Date('2025-06-01T20:00:00Z');
  const byNight = price();
  now = new Date('2025-06-02T12:00:00Z');
  expect([byDay, byNight, price()]).toEqual([0.27, 0.135, 0.27]);
});

test('abilities are known for the usual models', () => {
  expect(catalog.facts('anthropic/claude-opus-4-7').abilities).toMatchObject({
    tools: true,
    parallelTools: true,
    images: true,
    reasoning: true,
    caching: true,
  });
  expect(catalog.facts('openai/gpt-4o').abilities).toMatchObject({ tools: true, images: true, reasoning: false });
  expect(catalog.facts('deepseek/deepseek-reasoner').abilities).toMatchObject({ reasoning: true, images: false });
});

test('what is not known is absent: no window is invented and no price is zero', () => {
  const facts = catalog.facts('nobody/never-heard-of-it');
  expect(facts).toEqual({ abilities: {} });
  expect(catalog.costUsd(usage({ inputTokens: 10 }), 'nobody/never-heard-of-it')).toBeNull();
  expect(catalog.facts('ollama/llama3.3').prices).toBeUndefined();
});

test('a model that a provider serves without being listed has its limits, but not the prices of its maker', () => {
  const facts = catalog.facts('mycorp-proxy/gpt-5');
  expect(facts).toMatchObject({ windowTokens: 400_000 });
  expect(facts.prices).toBeUndefined();
});

test('configuration wins, key by key, the model over its provider', () => {
  expect(catalog.facts('mycorp/small')).toEqual({ windowTokens: 32_000, abilities: { images: false } });
  expect(catalog.facts('mycorp/big')).toMatchObject({ windowTokens: 64_000, abilities: { images: false } });
  expect(catalog.facts('deepseek/deepseek-chat')).toMatchObject({
    windowTokens: 128_000,
    abilities: { images: true, tools: true },
  });
});

test('cached input, cache writes and reasoning are priced apart', () => {
  const tiers = [{ fromInputTokens: 0, input: 10, output: 100, cacheRead: 1, cacheWrite: 20, reasoning: 50 }] as const;
  const spent = usage({
    inputTokens: 1_000_000,
    cacheReadTokens: 500_000,
    cacheWriteTokens: 100_000,
    outputTokens: 100_000,
    reasoningTokens: 40_000,
  });
  expect(costUsd(spent, tiers)).toBeCloseTo(4 + 0.5 + 2 + 6 + 2, 10);
});

test('the whole input chooses the tier', () => {
  const { prices } = catalog.facts('gemini/gemini-2.5-pro');
  expect(prices).toMatchObject([
    { fromInputTokens: 0, input: 1.25 },
    { fromInputTokens: 200_000, input: 2.5, output: 15 },
  ]);
  expect(catalog.costUsd(usage({ inputTokens: 100_000 }), 'gemini/gemini-2.5-pro')).toBeCloseTo(0.125, 10);
  expect(catalog.costUsd(usage({ inputTokens: 1_000_000 }), 'gemini/gemini-2.5-pro')).toBeCloseTo(2.5, 10);
});

test('a known call of a known model costs what its price list says', () => {
  const spent = usage({
    inputTokens: 1050,
    cacheReadTokens: 900,
    cacheWriteTokens: 50,
    outputTokens: 77,
    reasoningTokens: 12,
  });
  expect(catalog.costUsd(spent, 'anthropic/claude-opus-4-1')).toBeCloseTo(
    (100 * 15 + 900 * 1.5 + 50 * 18.75 + 77 * 75) / 1e6,
    12,
  );
});

test('a call never costs less for more tokens, and cached input never more than fresh', () => {
  const tier = fc.record({
    fromInputTokens: fc.constant(0),
    input: fc.integer({ min: 1, max: 100 }),
    output: fc.integer({ min: 1, max: 100 }),
  });
  const spent = fc.record({
    inputTokens: fc.nat(1e6),
    outputTokens: fc.nat(1e6),
    cacheReadTokens: fc.nat(1e6),
    cacheWriteTokens: fc.constant(0),
    reasoningTokens: fc.nat(1e6),
  });
  fc.assert(
    fc.property(tier, spent, (price, tokens) => {
      const prices: readonly [PriceTier] = [{ ...price, cacheRead: price.input / 10 }];
      const inputTokens = Math.max(tokens.inputTokens, tokens.cacheReadTokens);
      const cost = costUsd({ ...tokens, inputTokens }, prices);
      expect(costUsd({ ...tokens, inputTokens: inputTokens + 1000 }, prices)).toBeGreaterThan(cost);
      expect(costUsd({ ...tokens, inputTokens, cacheReadTokens: 0 }, prices)).toBeGreaterThanOrEqual(cost);
    }),
    { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) },
  );
});

/** A server that answers these paths with JSON and everything else with 404. */
const serving =
  (answers: Readonly<Record<string, unknown>>): typeof fetch =>
  async (url) => {
    const answer = answers[new URL(String(url)).pathname];
    return answer === undefined ? new Response('not here', { status: 404 }) : Response.json(answer);
  };

test.each([
  ['vLLM', { '/v1/models': { data: [{ id: 'm', max_model_len: 8192 }] } }, 8192],
  [
    'OpenRouter',
    {
      '/v1/models': {
        data: [
          { id: 'other', context_length: 1 },
          { id: 'm', context_length: 131_072 },
        ],
      },
    },
    131_072,
  ],
  [
    'llama.cpp, models',
    { '/v1/models': { data: [{ id: '/models/m.gguf', meta: { n_ctx: 4096, n_ctx_train: 32_768 } }] } },
    4096,
  ],
  [
    'llama.cpp, started with less than the model was trained with',
    {
      '/v1/models': { data: [{ id: 'm', meta: { n_ctx_train: 32_768 } }] },
      '/props': { default_generation_settings: { n_ctx: 4096 } },
    },
    4096,
  ],
  ['llama.cpp, trained with', { '/v1/models': { data: [{ id: 'm', meta: { n_ctx_train: 32_768 } }] } }, 32_768],
  [
    'Anthropic',
    {
      '/v1/models': {
        data: [
          { id: 'm', max_input_tokens: 400_000, max_tokens: 64_000 },
          { id: 'n', max_input_tokens: 1 },
        ],
      },
    },
    400_000,
  ],
  [
    'llama.cpp, props',
    { '/v1/models': { data: [{ id: 'm' }] }, '/props': { default_generation_settings: { n_ctx: 2048 } } },
    2048,
  ],
  ['a server that does not say', { '/v1/models': { data: [{ id: 'm' }] } }, undefined],
  ['nothing there', {}, undefined],
])('the window is asked of %s', async (_, answers, window) => {
  const signal = new AbortController().signal;
  expect(await probeWindow({ baseUrl: 'http://127.0.0.1:1/v1/', model: 'm', signal, fetch: serving(answers) })).toBe(
    window,
  );
});

test('a probe that is aborted says so', async () => {
  const reason = new Error('enough');
  const fetch = async (): Promise<Response> => Promise.reject(new TypeError('aborted'));
  await expect(
    probeWindow({ baseUrl: 'http://127.0.0.1:1', model: 'm', signal: AbortSignal.abort(reason), fetch }),
  ).rejects.toBe(reason);
});

test('a server that does not answer, or not yet, is told from one that does not know', async () => {
  const signal = new AbortController().signal;
  const ask = (fetch: typeof globalThis.fetch) =>
    probeWindow({ baseUrl: 'http://127.0.0.1:1/v1', model: 'm', signal, fetch });
  await expect(ask(async () => Promise.reject(new TypeError('refused')))).rejects.toThrow('refused');
  await expect(ask(async () => new Response('loading', { status: 503 }))).rejects.toThrow('503');
  expect(await ask(async () => new Response('<html>', { status: 200 }))).toBeUndefined();
});
