import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { subagentsOf, treeText } from '../../src/cli/session-tree.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { assistantItem, Execution } from '../store/scenario.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  let now = 0;
  folder = mkdtempSync(join(tmpdir(), 'holdfast-tree-'));
  store = await openStore(join(folder, 'holdfast.db'), { now: () => ++now });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run of one step that is still open. */
async function ran(sessionId: string, inputTokens: number, costUsd: number | null): Promise<void> {
  const run = new Execution(store, { sessionId, runId: `run of ${sessionId}` });
  await run.open(`m ${sessionId}`);
  const usage = { inputTokens, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  await run.begin(0);
  await run.commit(0, [assistantItem('so')], { usage, costUsd });
}

test('subagents are told as a tree, each with what it took, and what all took together', async () => {
  await ran('top', 1000, 0.01);
  await ran('top/sub/b', 200, 0.02);
  await ran('top/sub/b/sub/c', 30, 0.04);
  await ran('top/sub/a', 4, 0.08);
  await ran('topper/sub/x', 99_999, 9);
  const subagents = await subagentsOf(store, 'top');
  expect(treeText(await store.runs('top'), subagents)).toBe(
    [
      '',
      'subagents',
      '  helper · running · 200 tokens in, 10 out · $0.02 · text of m top/sub/b',
      '    top/sub/b',
      '    helper · running · 30 tokens in, 10 out · $0.04 · text of m top/sub/b/sub/c',
      '      top/sub/b/sub/c',
      '  helper · running · 4 tokens in, 10 out · $0.08 · text of m top/sub/a',
      '    top/sub/a',
      'with subagents · 1.2k tokens in, 40 out · $0.15',
      '',
    ].join('\n'),
  );
  expect(treeText(await store.runs('top/sub/a'), await subagentsOf(store, 'top/sub/a'))).toBe('');
});

test('a sum with a price that nobody knows is no price', async () => {
  await ran('top', 1, 0.01);
  await ran('top/sub/a', 2, null);
  expect(treeText(await store.runs('top'), await subagentsOf(store, 'top'))).toMatch(
    /with subagents · 3 tokens in, 20 out\n$/,
  );
});
