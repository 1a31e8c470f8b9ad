import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { agentRun } from './runner/agent-run.ts';
import { objs } from './runner/case-file.ts';
import { recorded } from './runner/case-input.ts';
import { runAnswerIn } from './runner/stream-in.ts';
import { targetOfApi } from './runner/target.ts';
import { partsOf } from './runner/wire-reader.ts';

test('e-14: arguments with text behind them are an error for the model, never executed and never replayed raw', async () => {
  const { input } = findCase('e-14-arguments-with-trailing-text');
  const seen = await agentRun({ ...input, repeat_forever: true }, targetOfApi('chat', 'compatible'), recorded(input));
  expect(seen.executed).toEqual([]);
  expect(seen.results?.every((result) => result.status === 'error')).toBe(true);
  expect(seen.ended).toBe(true);
  expect(seen.broken).toEqual([]);
  const replayed = seen.requests?.flatMap((request) => partsOf(request, 'call').map((part) => part.text)) ?? [];
  expect(replayed.length).toBeGreaterThan(0);
  expect(replayed.join('')).not.toContain('</tool_call>');
});

describe('e-40: a 200 that holds no completion', () => {
  const one = findCase('e-40-envelope-and-empty-completion');
  const variants = objs(one.input.variants);

  test('is a typed error each time, never an empty success', async () => {
    const seen = await runAnswerIn(one);
    expect(seen.variants).toHaveLength(variants.length);
    // An envelope that plainly holds the completion may be opened: then the text is the answer.
    const [envelope, empty, failed] = seen.variants ?? [];
    expect(envelope?.error?.class ?? envelope?.text).toMatch(/^(protocol|x)$/);
    expect(empty?.error?.class).toMatch(/protocol|incomplete_stream/);
    expect(failed?.error?.message).toContain('Model is loading');
  });
});
