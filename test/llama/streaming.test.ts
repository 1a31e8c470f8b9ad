import { describe, expect, test } from 'vitest';
import { answerOf, LLAMA_URL, question, slot, tokensOf, WIRES } from './llama-server.ts';

describe.skipIf(LLAMA_URL === undefined).each(WIRES)("llama.cpp's server by $api", (provider) => {
  const count = question(`Count on, without end: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 (${provider.id})`);

  test('an answer comes in pieces, its reasoning first, and then how it ended', async () => {
    const got = await answerOf(provider, count);
    const types = got.events.map(({ type }) => type);
    expect(types.filter((type) => type === 'reasoning_delta').length).toBeGreaterThan(1);
    expect(types.filter((type) => type === 'text_delta' || type === 'reasoning_delta').length).toBeGreaterThan(8);
    expect(types[0]).toBe('response_started');
    expect(types.at(-1)).toBe('finished');
    expect(got.items[0]).toMatchObject({ kind: 'reasoning_summary', text: expect.stringMatching(/./) });
  });

  test('usage is what the server itself counts, and a prompt that came before was read from its cache', async () => {
    const { usage } = await answerOf(provider, count);
    expect(usage?.inputTokens).toBe(await tokensOf((await slot()).prompt));
    expect(usage?.outputTokens).toBe(count.maxOutputTokens);
    expect(usage?.cacheReadTokens).toBeGreaterThan(0);
    expect(usage?.cacheReadTokens).toBeLessThanOrEqual(usage?.inputTokens ?? 0);
  });

  test('an answer that the output limit cut is told apart from a finished one', async () => {
    const got = await answerOf(provider, count);
    expect(got.stopReason.unified).toBe('length');
  });
});
