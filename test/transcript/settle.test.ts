import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResultStatus } from '../../src/transcript/items.ts';
import { type CallSettlement, settle } from '../../src/transcript/settle.ts';
import { SYNTHETIC_TEXTS, syntheticResult } from '../../src/transcript/synthetic-result.ts';
import { validate } from '../../src/transcript/validate.ts';
import { call, calls, RUNS, result } from './arbitraries.ts';

function textOf(batch: ReturnType<typeof settle>, callId: string): string {
  const found = batch.results.find((one) => one.callId === callId);
  return found?.content.map((block) => ('text' in block ? block.text : '')).join('') ?? '';
}

const ids = ['a', 'b', 'c', 'constructor', '__proto__'];
const ended = fc.constantFrom('error', 'denied', 'timed_out', 'cancelled', 'aborted', 'unknown_outcome');

test('a settled batch has one result a call, in call order: stored, else as settled, else aborted', () => {
  const named = fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1 });
  const stored = fc.array(fc.constantFrom(...ids, 'stranger').map((id) => result(id)));
  const settlement = fc
    .array(fc.tuple(fc.constantFrom(...ids), ended))
    .map((list): CallSettlement => Object.fromEntries(list.map(([id, status]) => [id, { status: status as 'error' }])));
  fc.assert(
    fc.property(named, stored, settlement, (batchIds, results, how) => {
      const batch = calls('r1', ...batchIds);
      const settled = settle(batch, results, how);
      expect(settled.results.map(({ callId }) => callId)).toEqual(batchIds);
      for (const one of settled.results) {
        const kept = results.find(({ callId }) => callId === one.callId);
        if (kept !== undefined) expect(one).toBe(kept);
        else {
          const status = Object.entries(how).find(([id]) => id === one.callId)?.[1].status ?? 'aborted';
          expect(one).toEqual(syntheticResult(one.callId, status));
        }
      }
      expect(validate([batch, settled], { tail: 'closed' })).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test('what is said of a call that was running is never said of one that was not started', () => {
  const batch = calls('r1', 'running', 'waiting');
  const settled = settle(batch, [], { running: { status: 'cancelled' } });
  expect(settled.results.map(({ status }) => status)).toEqual(['cancelled', 'aborted']);
  expect(textOf(settled, 'running')).toMatch(/had started and was interrupted.*may have happened/);
  expect(textOf(settled, 'waiting')).toMatch(/never started.*no effect/);
});

test('a call that could not be read was not run, whatever the settlement says', () => {
  const batch = calls('r1', call('a', { rawArguments: '{', argumentsError: 'unexpected end' }));
  const settled = settle(batch, [], { a: { status: 'cancelled' } });
  expect(settled.results[0]?.status).toBe('error');
  expect(textOf(settled, 'a')).toContain('not run: its arguments were not a JSON object (unexpected end)');
  expect(validate([batch, settled], { tail: 'closed' })).toEqual([]);
});

test('a reason follows the fixed text', () => {
  const settled = settle(calls('r1', 'a'), [], { a: { status: 'denied', message: 'Ada: use the staging database' } });
  expect(textOf(settled, 'a')).toBe('This call was not run: permission was denied.\nAda: use the staging database');
});

describe('the texts of synthetic results', () => {
  /** What each text claims, said by hand. `ran`: null where nobody knows. */
  const CLAIMS: Readonly<Record<Exclude<ToolResultStatus, 'ok'>, RegExp>> = {
    aborted: /never started.*no effect/,
    cancelled: /had started.*interrupted.*may have happened/,
    unknown_outcome: /outcome is unknown.*may or may not/,
    timed_out: /did not finish in time.*may or may not/,
    denied: /not run.*denied/,
    error: /failed/,
  };

  test.each(Object.entries(CLAIMS))('%s says so', (status, claim) => {
    expect(SYNTHETIC_TEXTS[status as Exclude<ToolResultStatus, 'ok'>]).toMatch(claim);
  });

  test.each(['aborted', 'cancelled', 'unknown_outcome', 'timed_out', 'error'] as const)(
    '%s does not say that somebody refused',
    (status) => {
      expect(SYNTHETIC_TEXTS[status]).not.toMatch(/reject|refus|den(y|ied)|declin|permission|user/i);
    },
  );

  test('only those of calls that may have run ask to check before repeating', () => {
    const asks = Object.entries(SYNTHETIC_TEXTS).filter(([, text]) => /before repeating/.test(text));
    expect(asks.map(([status]) => status).sort()).toEqual(['cancelled', 'timed_out', 'unknown_outcome']);
  });
});
