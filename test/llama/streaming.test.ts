import { describe, expect, test } from 'vitest';
import { kindsOf } from '../providers/wire-server.ts';
import { answerOf, LLAMA_URL, question, slot, tokensOf, WEATHER, WIRES } from './llama-server.ts';

describe.skipIf(LLAMA_URL === undefined).each(WIRES)("llama.cpp's server by $api", (provider) => {
  const count = question(`Count on, without end: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 (${provider.id})`);

  test('an answer comes in pieces: reasoning, then text, then how it ended', async () => {
    const got = await answerOf(provider, count);
    const types = got.events.map(({ type }) => type);
    expect(types.filter((type) => type === 'reasoning_delta').length).toBeGreaterThan(1);
    expect(types.filter((type) => type === 'text_delta').length).toBeGreaterThan(1);
    expect(types[0]).toBe('response_started');
    expect(types.at(-1)).toBe('finished');
    expect(kindsOf(got.items)).toEqual(['reasoning_summary', 'assistant_message']);
    expect(got.text).not.toBe('');
  });

  test('usage is what the server itself counts, and a prompt that comes again was read from its cache', async () => {
    await answerOf(provider, count);
    const { usage } = await answerOf(provider, count);
    expect(usage?.inputTokens).toBe(await tokensOf((await slot()).prompt));
    expect(usage?.outputTokens).toBe(count.maxOutputTokens);
    expect(usage?.cacheReadTokens).toBeGreaterThan(0);
    expect(usage?.cacheReadTokens).toBeLessThanOrEqual(usage?.inputTokens ?? 0);
  });

  test('an answer that the output limit cut is told apart from a finished one', async () => {
    const got = await answerOf(provider, count);
    expect(got.stopReason.unified).toBe('length');
    expect(got.items.at(-1)).toMatchObject({ kind: 'assistant_message', truncated: true });
  });

  test('a call that is asked for comes whole, with its arguments', async () => {
    const request = question('What is the weather in Rome?', {
      tools: [WEATHER],
      toolChoice: 'required',
      maxOutputTokens: 200,
    });
    const got = await answerOf(provider, request);
    const calls = got.items.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : []));
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      expect(call).toMatchObject({ name: 'get_weather', arguments: { city: expect.stringMatching(/^(Paris|Rome)$/) } });
      expect(call.nativeId).not.toBe('');
    }
    expect(new Set(calls.map((call) => call.nativeId)).size).toBe(calls.length);
    expect(got.stopReason.unified).toBe('tool_calls');
  });
});
