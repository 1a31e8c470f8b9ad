import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import { inputTruncatedByServer, overflowByEstimate, silentOverflow } from '../../../src/providers/overflow.ts';
import type { UnifiedStopReason } from '../../../src/transcript/message.ts';

const overflow = (stop: UnifiedStopReason, inputTokens: number | null, empty: boolean, window?: number) =>
  silentOverflow({
    stopReason: { unified: stop, raw: stop },
    usage:
      inputTokens === null
        ? null
        : { inputTokens, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    empty,
    window,
  })?.numbers;

test('an empty answer to a prompt above the window is an overflow', () => {
  expect(overflow('stop', 36_210, true, 32_768)).toEqual({ limit: 32_768, requested: 36_210 });
});

test('a length stop with the window full of input is an overflow, with some text too', () => {
  expect(overflow('length', 127_990, true, 128_000)).toEqual({ limit: 128_000, requested: 127_990 });
  expect(overflow('length', 154_485, false, 128_000)).toEqual({ limit: 128_000, requested: 154_485 });
});

test('the model that says so has overflown, whatever is known of the window', () => {
  expect(overflow('context_overflow', null, false)).toEqual({});
});

test('neither an answer to an over-long prompt, nor a long answer, nor an empty one is an overflow by itself', () => {
  expect(overflow('stop', 209_000, false, 200_000)).toBeUndefined();
  expect(overflow('length', 60_000, false, 128_000)).toBeUndefined();
  expect(overflow('stop', 1_000, true, 128_000)).toBeUndefined();
  expect(overflow('stop', null, true, 128_000)).toBeUndefined();
  expect(overflow('stop', 36_210, true, undefined)).toBeUndefined();
});

test('an empty 400 is an overflow exactly when our estimate is above the window', () => {
  const mute = classify({ status: 400, headers: new Headers({ 'content-length': '0' }), body: '', nowMs: 0 });
  expect(overflowByEstimate(mute, { estimatedInputTokens: 140_000, window: 131_072 })).toMatchObject({
    code: 'context_overflow',
    retryable: false,
    numbers: { limit: 131_072, requested: 140_000 },
  });
  expect(overflowByEstimate(mute, { estimatedInputTokens: 1_000, window: 131_072 })).toBe(mute);
});

test('an error that says what is wrong stays what it is, whatever the estimate', () => {
  const named = classify({ status: 400, body: { error: { message: 'Unknown parameter' } }, nowMs: 0 });
  expect(overflowByEstimate(named, { estimatedInputTokens: 140_000, window: 131_072 })).toBe(named);
});

test("Ollama's lost user turn may be an overflow", () => {
  const lost = classify({ status: 500, body: { error: { message: 'no user query found in messages' } }, nowMs: 0 });
  expect(lost.code).toBe('server_error');
  expect(overflowByEstimate(lost, { estimatedInputTokens: 9_000, window: 4_096 }).code).toBe('context_overflow');
});

test('half of the estimate or less means that the server cut the input; zero means nothing', () => {
  expect(inputTruncatedByServer({ estimated: 7_900, reported: 2_050 })).toBe(true);
  expect(inputTruncatedByServer({ estimated: 7_900, reported: 7_000 })).toBe(false);
  expect(inputTruncatedByServer({ estimated: 7_900, reported: 0 })).toBe(false);
});
