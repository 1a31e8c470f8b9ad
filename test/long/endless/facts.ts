import { pick, seededRandom } from '../../fakes/random.ts';

/** Where a fact stands, once: in a tool's output only, in what the agent says, or in the arguments of its call. */
export type FactPlace = 'output' | 'text' | 'arguments';

/** Something exact that is said once and asked for later. */
export interface Fact {
  readonly text: string;
  readonly kind: 'path' | 'id' | 'number';
  readonly place: FactPlace;
  /** Step that it is planted in, from 1. */
  readonly step: number;
}

const FOLDERS = ['lib', 'etc', 'bin', 'app'];
const WORDS = ['otter', 'kelp', 'reef', 'moss', 'fern', 'dune', 'crag', 'tarn', 'heath', 'cove'];
const ENDINGS = ['ts', 'yml', 'py', 'sql'];
const LETTERS = 'BDFGHJKLMNPQRSTVWXZ';

/** `count` facts spread evenly over `steps`: paths, ids and numbers in turn, every second one in tool output only. */
export function plantedFacts(count: number, steps: number, seed: number): readonly Fact[] {
  const random = seededRandom(seed);
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, at): Fact => {
    const kind = (['path', 'id', 'number'] as const)[at % 3] ?? 'id';
    let text = factText(kind, random);
    while ([...taken].some((other) => other.includes(text) || text.includes(other))) text = factText(kind, random);
    taken.add(text);
    const place = at % 2 === 0 ? 'output' : at % 4 === 1 ? 'text' : 'arguments';
    return { text, kind, place, step: Math.min(steps, Math.floor((at * steps) / count) + 1) };
  });
}

function factText(kind: Fact['kind'], random: () => number): string {
  const digits = (n: number): string => String(Math.floor((1 + random() * 9) * 10 ** (n - 1)));
  switch (kind) {
    case 'path':
      return `${pick(random, FOLDERS)}/${pick(random, WORDS)}${digits(2)}.${pick(random, ENDINGS)}`;
    case 'id':
      return `${pick(random, [...LETTERS])}${pick(random, [...LETTERS])}-${digits(4)}`;
    default:
      return digits(6);
  }
}

/** Whether a text holds the fact as a word of its own, not as a part of a longer one. */
export function holds(text: string, fact: string): boolean {
  for (let at = text.indexOf(fact); at !== -1; at = text.indexOf(fact, at + 1)) {
    if (!/[\w/-]/.test(text[at - 1] ?? ' ') && !/[\w/-]/.test(text[at + fact.length] ?? ' ')) return true;
  }
  return false;
}
