import { describe, expect, test } from 'vitest';
import { allCases } from './find-case.ts';
import { runCase } from './runner/run-case.ts';

/** What `npm run cases` runs, as tests. Cases without a check are named tests of their own. */
const CHECKED = allCases().filter((one) => one.check !== undefined);

describe.each([...new Set(CHECKED.map((one) => one.topic))])('topic %s', (topic) => {
  test.each(CHECKED.filter((one) => one.topic === topic))('$id: $title', async (one) => {
    const outcome = await runCase(one);
    expect(outcome.status === 'failed' ? outcome.problems : []).toEqual([]);
  });
});
