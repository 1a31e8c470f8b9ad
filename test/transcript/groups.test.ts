import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupsOf } from '../../src/transcript/groups.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { validate } from '../../src/transcript/validate.ts';
import {
  anyTranscript,
  assistant,
  builtin,
  calls,
  legalTranscript,
  RUNS,
  reasoning,
  results,
  user,
} from './arbitraries.ts';

test('groups are in order, not empty, and cover any list', () => {
  fc.assert(
    fc.property(anyTranscript, (items) => {
      const groups = groupsOf(items);
      expect(groups.every(({ start, end }) => start < end)).toBe(true);
      expect(groups.flatMap(({ start, end }) => items.slice(start, end))).toEqual(items);
      expect(groups.map(({ start }) => start)).toEqual([0, ...groups.map(({ end }) => end)].slice(0, groups.length));
    }),
    { numRuns: RUNS },
  );
});

/** Whether two items of a legal transcript (unique ids) belong together by an id that both know, or by a pause. */
function tied(left: AgentItem, right: AgentItem, adjacent: boolean, items: readonly AgentItem[]): boolean {
  const ids = (item: AgentItem): readonly string[] => {
    if (item.kind === 'tool_result_batch') return item.results.map(({ callId }) => `call ${callId}`);
    if (!('response' in item)) return [];
    const own = [`response ${item.response.id}`];
    if (item.kind === 'tool_call_batch') own.push(...item.calls.map(({ callId }) => `call ${callId}`));
    if (item.kind === 'builtin_tool_event') own.push(`builtin ${item.nativeId}`);
    return own;
  };
  if (ids(left).some((id) => ids(right).includes(id))) return true;
  if (!adjacent || !('response' in left) || !('response' in right)) return false;
  return items.some((item) => item.kind === 'builtin_tool_event' && item.response.id === left.response.id);
}

test('a cut is allowed between two groups exactly where it parts no two items that belong together', () => {
  fc.assert(
    fc.property(legalTranscript, (items) => {
      const allowed = items.flatMap((_, cut) =>
        items
          .slice(0, cut)
          .some((left, at) =>
            items.slice(cut).some((right, offset) => tied(left, right, at + 1 === cut + offset, items)),
          )
          ? []
          : [cut],
      );
      expect(groupsOf(items).map(({ start }) => start)).toEqual(allowed);
    }),
    // Cubic oracle.
    { numRuns: RUNS },
  );
});

test('any choice of whole groups of a valid transcript is valid', () => {
  fc.assert(
    fc.property(anyTranscript, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (raw, keep) => {
      const { items } = normalize(raw);
      const kept = groupsOf(items).flatMap(({ start, end }, index) =>
        keep[index % 40] ? items.slice(start, end) : [],
      );
      // Groups that come to stand side by side may look like a pause, which asks for nothing; ids stay closed.
      expect(validate(kept, { tail: 'closed' })).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

const CASES: readonly {
  readonly why: string;
  readonly items: readonly AgentItem[];
  readonly starts: readonly number[];
}[] = [
  { why: 'messages stand alone', items: [user('a'), user('b'), assistant('r1', 'c')], starts: [0, 1, 2] },
  {
    why: 'a response with its batch and results',
    items: [
      user('a'),
      reasoning('r1', 'b'),
      assistant('r1', 'c'),
      calls('r1', 'x'),
      results('x'),
      assistant('r2', 'd'),
    ],
    starts: [0, 1, 5],
  },
  {
    why: 'two answers in a row without builtin tools are no pause',
    items: [assistant('r1', 'a'), assistant('r2', 'b')],
    starts: [0, 1],
  },
  {
    why: 'nor are they after a turn with one',
    items: [builtin('r1', 'call', 'b'), user('x'), assistant('r2', 'a'), assistant('r3', 'b')],
    starts: [0, 1, 2, 3],
  },
  {
    why: 'after a pause the next response belongs to the group',
    items: [builtin('r1', 'call', 'b'), builtin('r1', 'result', 'b'), assistant('r2', 'x'), user('y')],
    starts: [0, 3],
  },
  {
    why: 'a chain of pauses is one group',
    items: [builtin('r1', 'call', 'a'), builtin('r2', 'call', 'b'), builtin('r3', 'call', 'c'), assistant('r4', 'x')],
    starts: [0],
  },
  {
    why: 'a builtin result in the next response ties it, our batch in between',
    items: [
      builtin('r1', 'call', 'b'),
      calls('r1', 'x'),
      results('x'),
      builtin('r2', 'result', 'b'),
      calls('r2', 'y'),
      results('y'),
      user('z'),
    ],
    starts: [0, 6],
  },
  {
    why: 'a batch ends what a pause would continue',
    items: [builtin('r1', 'call', 'b'), calls('r1', 'x'), results('x'), assistant('r2', 'y')],
    starts: [0, 3],
  },
  {
    why: 'in a broken list a group reaches as far as its ids do',
    items: [calls('r1', 'x'), user('a'), assistant('r2', 'b'), results('x'), user('c')],
    starts: [0, 4],
  },
];

test.each(CASES)('$why', ({ items, starts }) => {
  expect(groupsOf(items).map(({ start }) => start)).toEqual(starts);
});
