import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ANTHROPIC_MUTATIONS } from './anthropic.mutations.ts';
import { check as checkAnthropic } from './anthropic.ts';
import { MISSPELT_KEY, type Mutation, WRONG_TYPE } from './mutate.ts';
import { CHAT_MUTATIONS } from './openai-chat.mutations.ts';
import { check as checkChat } from './openai-chat.ts';
import { RESPONSES_MUTATIONS } from './openai-responses.mutations.ts';
import { check as checkResponses } from './openai-responses.ts';
import { type Plan, plan } from './plan.ts';
import { type Draft, toAnthropic, toChat, toResponses } from './render.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

interface Wire {
  readonly name: string;
  readonly render: (plan: Plan) => Draft;
  readonly check: (body: unknown) => string[];
  readonly mutations: readonly Mutation[];
}

const WIRES: readonly Wire[] = [
  { name: 'openai-chat', render: toChat, check: checkChat, mutations: CHAT_MUTATIONS },
  { name: 'anthropic', render: toAnthropic, check: checkAnthropic, mutations: ANTHROPIC_MUTATIONS },
  { name: 'openai-responses', render: toResponses, check: checkResponses, mutations: RESPONSES_MUTATIONS },
];

describe.each(WIRES)('$name', ({ name, render, check, mutations }) => {
  test('a request made by the rules is accepted', () => {
    fc.assert(
      fc.property(plan, (made) => {
        expect(check(JSON.parse(JSON.stringify(render(made))))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('at least 95 % of mutants are refused, and no kind of mutation slips through', () => {
    const all = [...mutations, MISSPELT_KEY, WRONG_TYPE];
    const refused = new Map<string, { made: number; refused: number }>(
      all.map((m) => [m.name, { made: 0, refused: 0 }]),
    );
    // One plan makes some 60 mutants: 40 plans are thousands of them.
    fc.assert(
      fc.property(plan, fc.nat(), (made, seed) => {
        for (const mutation of all) {
          const body: Draft = JSON.parse(JSON.stringify(render(made)));
          const before = JSON.stringify(body);
          if (!mutation.apply(body, (n) => (n === 0 ? 0 : seed % n)) || JSON.stringify(body) === before) continue;
          const count = refused.get(mutation.name);
          if (count === undefined) throw new Error(`uncounted mutation ${mutation.name}`);
          count.made += 1;
          if (check(JSON.parse(JSON.stringify(body))).length > 0) count.refused += 1;
        }
      }),
      // A fixed seed: the share is a figure to be compared from run to run.
      { numRuns: Math.ceil(RUNS / 25), seed: 2026 },
    );
    const counts = [...refused.entries()];
    const made = counts.reduce((sum, [, count]) => sum + count.made, 0);
    const caught = counts.reduce((sum, [, count]) => sum + count.refused, 0);
    console.log(
      `${name}: ${caught} of ${made} mutants refused (${((100 * caught) / made).toFixed(2)} %), ${all.length} kinds`,
    );
    const never = counts.flatMap(([kind, count]) =>
      count.made > 0 && count.refused < count.made * 0.95 ? [`${kind}: ${count.refused}/${count.made}`] : [],
    );
    expect(never).toEqual([]);
    expect(counts.filter(([, count]) => count.made === 0).map(([kind]) => kind)).toEqual([]);
    expect(caught / made).toBeGreaterThanOrEqual(0.95);
  });
});
