import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { SummaryQuality } from '../../src/compaction/models.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { validate } from '../../src/transcript/validate.ts';
import { type Driven, driveRun } from '../cases/runner/drive-run.ts';
import { ResponseItems, user } from '../providers/conversation.ts';
import { LLAMA_URL, MODEL, WINDOW, WIRES } from './llama-server.ts';

const SESSION = 's';
const PROSE =
  'The parser reads one record, checks its header and hands it on, and nothing is kept in memory while it does so. ';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-llama-'));
  store = await openStore(join(folder, 'store.db'));
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** More than the server's window: the next request cannot go out without a compaction. */
function longHistory(provider: Provider): AgentItem[] {
  return Array.from({ length: 8 }, (_, turn) => {
    const ref = { id: `r${turn}`, provider: provider.id, model: MODEL, api: provider.api };
    const answer = new ResponseItems(ref, provider.scope(MODEL)).text(PROSE.repeat(14));
    return [user(turn === 0 ? 'The order number is 8841-K. Explain the parser.' : 'Go on.'), ...answer.items];
  }).flat();
}

function driven(provider: Provider): Driven {
  const model = `${provider.id}/${MODEL}`;
  const agent = {
    name: 'default',
    instructions: 'Be brief.',
    model,
    tools: createToolRegistry([]),
    maxToolTurns: 3,
    maxParallelTools: 1,
    toolTimeoutSecs: 60,
    maxOutputTokens: 64,
    temperature: 0,
  };
  const log = pino({ level: 'silent' });
  const activities = createActivities({
    store,
    agents: new Map([[agent.name, agent]]),
    providers: createProviderRegistry({ providers: [provider], default: model }),
    log,
    workspace: folder,
    catalog: { facts: () => ({ windowTokens: WINDOW, abilities: {} }), costUsd: () => null },
  });
  return { activities, store, sessionId: SESSION };
}

describe.skipIf(LLAMA_URL === undefined).each(WIRES)(
  "a summary by the small model of llama.cpp's server by $api",
  (provider) => {
    test('whatever it answers: history is intact, the scores are stored, the session goes on', async () => {
      const history = longHistory(provider);
      await store.importSession({ sessionId: SESSION, runId: 'earlier', items: history });
      const before = await store.entries(SESSION);

      const run = await driveRun(driven(provider), 'What is the order number?');
      expect(run.error).toBeUndefined();
      expect(run.finalText).toBeDefined();

      const [checkpoint, ...more] = await store.checkpoints(SESSION);
      expect(more).toEqual([]);
      if (checkpoint === undefined) throw new Error('nothing was compacted');
      expect(checkpoint.summary).toContain('8841-K');
      const quality = checkpoint.quality as unknown as SummaryQuality;
      expect(quality).toMatchObject({ passed: expect.any(Boolean), identifierRecall: expect.any(Number) });
      expect(quality.tokens).toBeLessThanOrEqual(quality.limitTokens);
      const { mode, calls } = checkpoint.metadata as unknown as { readonly mode: string; readonly calls: number };
      console.log(`${provider.api}: ${mode} after ${calls} calls; ${quality.problems.join('; ') || 'passed at once'}`);
      expect(calls).toBeGreaterThan(0);

      const after = await store.entries(SESSION);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(
        validate(
          after.map(({ item }) => item),
          { tail: 'closed', seqs: after.map(({ seq }) => seq) },
        ),
      ).toEqual([]);

      const next = await driveRun({ ...driven(provider), runId: 'run-2' }, 'And once more?');
      expect(next.finalText).toBeDefined();
    });
  },
);
