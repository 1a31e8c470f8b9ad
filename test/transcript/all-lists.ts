import type { AgentItem } from '../../src/transcript/items.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { assistant, builtin, calls, results, user } from './arbitraries.ts';

/** Longest list of the exhaustive check: each item more is eight times as many lists. */
export const LENGTH = process.env.HOLDFAST_LONG === '1' ? 6 : 5;

/** Eight kinds of item with ids that collide in every way: shared responses, calls twice, results twice, early, late, swapped. */
export const ALPHABET: readonly AgentItem[] = [
  user('hi'),
  assistant('r1', 'text'),
  calls('r1', 'a'),
  calls('r2', 'b', 'c'),
  results('a'),
  results('c'),
  builtin('r1', 'call', 'srvtoolu_1'),
  builtin('r3', 'result', 'srvtoolu_1'),
];

/** All lists of exactly `length` items. */
function* lists(length: number): Generator<readonly AgentItem[]> {
  const digits = new Array<number>(length).fill(0);
  for (let left = ALPHABET.length ** length; left > 0; left -= 1) {
    yield digits.map((digit) => ALPHABET[digit] ?? user(''));
    for (let at = length - 1; at >= 0; at -= 1) {
      digits[at] = ((digits[at] ?? 0) + 1) % ALPHABET.length;
      if (digits[at] !== 0) break;
    }
  }
}

/** What all lists of up to {@link LENGTH} items come to, each different outcome once: most broken lists are mended to the same. */
export interface Outcomes {
  /** Lists that were normalised. */
  readonly lists: number;
  readonly outcomes: readonly (readonly AgentItem[])[];
  /** How many of the outcomes come from lists of up to n items: `upTo[n]`. They stand first. */
  readonly upTo: readonly number[];
}

/** Normalises all lists. Takes seconds. */
export function allOutcomes(): Outcomes {
  const numbers = new Map<string, number>();
  const known = new Map<AgentItem, number>();
  const numberOf = (item: AgentItem): number => {
    const text = JSON.stringify(item);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  for (const item of ALPHABET) known.set(item, numberOf(item));

  const outcomes = new Map<string, readonly AgentItem[]>();
  const upTo: number[] = [];
  let count = 0;
  for (let length = 0; length <= LENGTH; length += 1) {
    for (const list of lists(length)) {
      count += 1;
      const { items } = normalize(list);
      const key = items.map((item) => known.get(item) ?? numberOf(item)).join(' ');
      if (!outcomes.has(key)) outcomes.set(key, items);
    }
    upTo.push(outcomes.size);
  }
  return { lists: count, outcomes: [...outcomes.values()], upTo };
}
