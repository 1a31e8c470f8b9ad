import { describe, expect, test } from 'vitest';
import { answerOf, LLAMA_URL, question, slot, WIRES } from './llama-server.ts';

describe.skipIf(LLAMA_URL === undefined).each(WIRES)("llama.cpp's server by $api", (provider) => {
  /** Enough tokens to be at it for many seconds. */
  const long = question(`Count on, without end: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 (${provider.id})`, {
    maxOutputTokens: 1500,
  });

  test('a cancel in mid-stream rejects with its own reason, and the server stops writing', async () => {
    const cancel = new AbortController();
    const reason = new Error('enough');
    const reading = (async () => {
      let deltas = 0;
      for await (const event of provider.stream(long, { signal: cancel.signal })) {
        if (event.type === 'text_delta' || event.type === 'reasoning_delta') deltas += 1;
        if (deltas === 3) cancel.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    await expect.poll(async () => (await slot()).processing, { timeout: 60_000 }).toBe(false);
    expect((await slot()).decoded).toBeLessThan(1500);
  });

  test('a cancel before the first byte frees the server too, and the next request is answered', async () => {
    const reason = new Error('never mind');
    const cancel = new AbortController();
    const reading = answerOf({ ...provider, stream: (r) => provider.stream(r, { signal: cancel.signal }) }, long);
    setTimeout(() => cancel.abort(reason), 20);
    await expect(reading).rejects.toBe(reason);
    await expect.poll(async () => (await slot()).processing, { timeout: 60_000 }).toBe(false);
    expect((await answerOf(provider, question('Say yes.'))).text).not.toBe('');
  });
});
