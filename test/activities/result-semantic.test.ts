import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import type { AgentSpec } from '../../src/activities/agents.ts';
import { createActivities } from '../../src/activities/create-activities.ts';
import { createOfflineProvider } from '../../src/providers/offline/adapter.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { defineJsonTool } from '../../src/tools/define-tool.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { ResultSemantic } from '../../src/transcript/microcompact-score.ts';
import { driveCompactOnly } from '../cases/runner/drive-run.ts';
import { calls, results, user } from '../tools/past.ts';

const tool = (name: string, resultSemantic: ResultSemantic) =>
  defineJsonTool({
    name,
    description: 'Looks.',
    annotations: { readOnlyHint: true },
    inputSchema: { type: 'object' },
    resultSemantic,
    execute: () => '[]',
  });

test('a compaction keeps old results of tools that find facts longer than those of others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-semantic-'));
  const store = await openStore(join(folder, 'store.db'));
  const agent: AgentSpec = {
    name: 'default',
    instructions: 'You look.',
    model: 'offline/extractive',
    tools: createToolRegistry([tool('find_facts', 'factual'), tool('find_any', 'mixed')]),
    maxToolTurns: 10,
    maxParallelTools: 8,
    toolTimeoutSecs: 60,
  };
  const activities = createActivities({
    store,
    agents: new Map([[agent.name, agent]]),
    providers: createProviderRegistry({ providers: [createOfflineProvider()], default: 'offline/extractive' }),
    log: pino({ level: 'silent' }),
    workspace: folder,
    catalog: { facts: () => ({ windowTokens: 32_000, abilities: {} }), costUsd: () => null },
  });
  // A list that nobody mentions again: of forty steps the twelve newest but five are old and not yet forgotten.
  const list = JSON.stringify(Array.from({ length: 60 }, (_, at) => `entry ${at}`));
  const steps = Array.from({ length: 40 }, (_, at) => {
    const callId = `c${at}`;
    return [calls([callId, at % 2 === 0 ? 'find_facts' : 'find_any']), results([callId, list])];
  });
  try {
    await store.importSession({ sessionId: 's', runId: 'r', items: [user('Look.'), ...steps.flat()] });
    await driveCompactOnly({ activities, store, sessionId: 's', runId: 'compact' }, [{ requestId: 'q' }]);
    const edited = new Set((await store.viewEdits('s')).map(({ callId }) => callId));
    expect(['c29', 'c31', 'c33'].filter((callId) => edited.has(callId))).toEqual(['c29', 'c31', 'c33']);
    expect(['c28', 'c30', 'c32'].filter((callId) => edited.has(callId))).toEqual([]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
