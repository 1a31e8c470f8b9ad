import { describe, expect, test } from 'vitest';
import { answerOf, LLAMA_URL, question, WINDOW, WIRES } from './llama-server.ts';

describe.skipIf(LLAMA_URL === undefined).each(WIRES)("llama.cpp's server by $api", (provider) => {
  test('a prompt above the window is a context overflow that names both sizes and asks for compaction', async () => {
    const tooLong = question(`Sum these up: ${Array.from({ length: 1200 }, (_, n) => `file-${n}.txt`).join(', ')}`);
    const error = await answerOf(provider, tooLong).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'ProviderError',
      code: 'context_overflow',
      retryable: false,
      remedy: 'compact',
      status: 400,
      numbers: { limit: WINDOW, requested: expect.any(Number) },
    });
    const { requested } = (error as { readonly numbers: { readonly requested: number } }).numbers;
    expect(requested).toBeGreaterThan(WINDOW);
  });

  test('the window that fills while the answer is written ends it as cut, where the wire can tell', async () => {
    // One token a word; all wires share the prompt, so it is read once.
    const got = await answerOf(provider, question(`Go on: ${'yes '.repeat(1950)}`, { maxOutputTokens: 1500 }));
    const used = (got.usage?.inputTokens ?? 0) + (got.usage?.outputTokens ?? 0);
    expect(used).toBeLessThanOrEqual(WINDOW);
    expect(used).toBeGreaterThan(WINDOW - 8);
    // Its Responses API calls every end "completed", and here the output limit was not reached.
    expect(got.stopReason.unified).toBe(provider.api === 'openai-responses' ? 'stop' : 'length');
  });

  test('the server takes the next request after an overflow', async () => {
    expect((await answerOf(provider, question('Say yes.'))).text).not.toBe('');
  });
});
