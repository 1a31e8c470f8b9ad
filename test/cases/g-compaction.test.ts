import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { type CompactionRun, observed, runForm } from './runner/compaction.ts';
import type { Observation } from './runner/observation.ts';
import { messagesOf, partsOf } from './runner/wire-reader.ts';

const TARGETS = ['openai-chat', 'anthropic'] as const;

/** A case as it runs on one wire format, with a compaction that somebody asks for where it allows one. */
async function runOf(
  id: string,
  words: string,
  change: object = {},
  asks = true,
): Promise<{ run: CompactionRun; seen: Observation }> {
  const run = await runForm(words, { ...findCase(id).input, ...change }, asks);
  expect(run.broken).toEqual([]);
  return { run, seen: observed(run, words) };
}

const bodies = (requests: CompactionRun['agentRequests']): string[] => requests.map(({ body }) => JSON.stringify(body));

describe.each(TARGETS)('on %s', (words) => {
  test.each([
    { id: 'c-06-call-without-output', call: 'read_file', output: 'BIG' },
    { id: 'g-02-open-call-at-compaction', call: 'run_command', output: 'ok' },
  ])(
    '$id: a compaction while a call is open waits for its result; both are there once',
    async ({ id, call, output }) => {
      const { run, seen } = await runOf(id, words);
      expect(run.end.executed.map(({ name }) => name)).toEqual([call]);
      expect(seen.compactions).toBe(1);
      const next = run.agentRequests.at(-1);
      expect(next).toBeDefined();
      if (next === undefined) return;
      expect(partsOf(next, 'call').map((part) => part.name)).toEqual([call]);
      expect(partsOf(next, 'result').map((part) => part.text)).toEqual([output]);
    },
  );

  test.each(['answers nothing', 'spends its budget on thinking', 'calls a tool'])(
    'g-03: a summariser that %s replaces nothing, is asked a bounded number of times, and runs nothing',
    async (summariser) => {
      const { run, seen } = await runOf('g-03-empty-summary', words, { summariser_answers: undefined, summariser });
      expect(seen.historyUnchanged).toBe(true);
      expect(run.summaryRequests.length).toBeGreaterThan(0);
      expect(run.summaryRequests.length).toBeLessThan(12);
      expect(run.end.executed).toEqual([]);
      expect(run.end.runs.at(-1)?.finalText).toBe('done');
    },
  );

  describe('g-06: the summarising request is over the summariser’s window', () => {
    test('is made in pieces that fit, and the compaction succeeds', async () => {
      const { run, seen } = await runOf('g-06-summary-call-overflows', words);
      expect(seen.historyUnchanged).toBe(false);
      expect(seen.summaryItems).toBe(1);
      expect(run.end.runs.at(-1)?.finalText).toBe('done');
      const [first, ...rest] = run.end.requests.filter(({ status }) => status === 400);
      expect(first).toBeDefined();
      expect(rest.length).toBeLessThan(4);
    });

    test('a summariser that never has room: told once and history as it was, where that fits', async () => {
      const change = { window: 8000, summariser_window: 50 };
      const { run, seen } = await runOf('g-06-summary-call-overflows', words, change);
      expect(seen.historyUnchanged).toBe(true);
      expect(run.summaryRequests.length).toBeLessThan(12);
      const told = run.end.runs.flatMap(({ events }) => events).filter(({ type }) => type === 'compaction_failed');
      expect(told).toHaveLength(1);
      expect(run.end.runs.at(-1)?.finalText).toBe('done');
    });

    test('and where it does not fit: a summary without a model, and the session goes on', async () => {
      const { run, seen } = await runOf('g-06-summary-call-overflows', words, { summariser_window: 50 }, false);
      expect(seen.summaryItems).toBe(1);
      expect(run.end.requests.filter(({ overflowed }) => overflowed)).toEqual([]);
      expect(run.end.runs.at(-1)?.finalText).toBe('done');
    });
  });

  test('g-14: a fact outlives five compactions; there is one summary, before the tail, and the next one is told of it', async () => {
    const { run, seen } = await runOf('g-14-summary-of-summary', words);
    expect(run.end.checkpoints).toBeGreaterThanOrEqual(5);
    const next = run.agentRequests.at(-1);
    if (next === undefined) throw new Error('no request');
    expect(JSON.stringify(next.body)).toContain('8841-K');
    expect(seen.summaryItems).toBe(1);
    const texts = messagesOf(next)
      .filter(({ label }) => label !== 'system')
      .map(({ parts }) => parts.map(({ text }) => text).join('\n'));
    expect(texts[0]).toContain('Summary of the conversation so far:');
    for (const summary of bodies(run.summaryRequests).slice(1)) {
      expect(summary).toMatch(/earlier summary|earlier_summary/);
    }
  });

  test('g-16: two compactions asked for at once are one; the turn goes on', async () => {
    const { run, seen } = await runOf('g-16-concurrent-compactions', words);
    expect(seen.compactions).toBe(1);
    expect(run.end.summariesAtOnce).toBeLessThanOrEqual(1);
    expect(run.end.answered).toEqual([['request-0', 'request-1']]);
    expect(run.end.runs.at(-1)?.finalText).toBe('done');
    expect(bodies(run.agentRequests).at(-1)).toContain('next');
  });

  test('g-19: the summary shows no call in a form that could be imitated, and a text that looks like one is not run', async () => {
    const { run } = await runOf('g-19-summary-imitated-as-text-calls', words);
    const pattern = /\[[^\]]*tool call[^\]]*\]|run_command\s*\(\s*\{|<tool_call>/i;
    const shown = [...bodies(run.summaryRequests), ...run.end.summaries];
    expect(run.end.summaries.length).toBeGreaterThan(0);
    // Where the request rides on the agent's own, its calls are real ones and no text.
    for (const text of shown) expect(text).not.toMatch(pattern);
    expect(bodies(run.agentRequests).at(-1)).toMatch(/history/);
    expect(run.end.executed).toEqual([]);
    expect(run.end.runs.at(-1)?.finalText).toContain('[Assistant tool call]');
  });

  test('g-20: after a reload the next request holds the summary with the fact, and the kept tail', async () => {
    const { run, seen } = await runOf('g-20-summary-not-persisted', words);
    expect(run.script.reload).toBe(true);
    expect(seen.compactions).toBe(1);
    const last = bodies(run.agentRequests).at(-1) ?? '';
    expect(last).toContain('7731');
    expect(last).toContain('And again?');
    expect(last).toContain('next');
    expect(seen.summaryItems).toBe(1);
  });

  describe('g-22: the provider refuses although the estimate was below the trigger', () => {
    test('one compaction, one repeat, and nothing of the failed attempt stays', async () => {
      const { run, seen } = await runOf('g-22-overflow-answer-then-compact-and-retry', words, {}, false);
      expect(seen.compactions).toBe(1);
      expect(run.agentRequests).toHaveLength(2);
      expect(run.end.runs.at(-1)?.finalText).toBe('done');
      const repeated = messagesOf(run.agentRequests[1] ?? { api: 'openai-chat', body: {} });
      const users = repeated
        .filter(({ label }) => label === 'user')
        .flatMap(({ parts }) => parts.map(({ text }) => text));
      expect(users.join('\n').split(/\bnext\b/).length - 1).toBe(1);
      expect(run.end.items.map(({ kind }) => kind)).toEqual([
        'user_message',
        'assistant_message',
        'user_message',
        'assistant_message',
      ]);
    });

    test('a second refusal straight after is an error with a name, not a loop', async () => {
      const { exchange: recorded } = findCase('g-22-overflow-answer-then-compact-and-retry').input;
      const refusal = (recorded as readonly unknown[])[0];
      const exchange = [refusal, 'summary request', refusal, refusal, refusal];
      const { run } = await runOf('g-22-overflow-answer-then-compact-and-retry', words, { exchange }, false);
      expect(run.agentRequests).toHaveLength(2);
      expect(run.end.runs.at(-1)).toMatchObject({
        ended: true,
        error: expect.stringMatching(/ContextUnfittable|ProviderFailed/),
      });
    });
  });
});
