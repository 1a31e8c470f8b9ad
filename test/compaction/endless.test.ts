import { expect, test } from 'vitest';
import { seededRandom } from '../fakes/random.ts';
import { endlessSession, faithful, forgetful, silent } from './endless-session.ts';

// An agent with a window of 8,000 tokens, 1,000 steps with 2 KB of output each, 400 facts on the way, half of them in outputs only.
test.each([
  { name: 'faithful', writer: faithful, recall: 1 },
  { name: 'forgetful', writer: forgetful(seededRandom(3)), recall: 0.95 },
  { name: 'silent', writer: silent, recall: 0.9 },
])('a long session with a $name summariser keeps its facts in each request', async ({ writer, recall }) => {
  const endured = await endlessSession(writer, 1000);
  expect(endured.planted).toBe(400);
  expect(endured.recall).toBeGreaterThanOrEqual(recall);
  expect(endured.largest).toBeLessThanOrEqual(endured.budget);
  expect(endured.repairs).toBe(0);
  expect(endured.summaries.at(-1)).toBeLessThanOrEqual(1.5 * (endured.summaries[4] ?? 0));
});
