import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { CallModelOutput, OpenRunOutput } from '../../src/contract/activities.ts';
import { createOfflineProvider } from '../../src/providers/offline/adapter.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';

test('a model call that is retried after its commit answers as the first did, head included', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'holdfast-committed-'));
  const store = await openStore(join(workspace, 'store.db'));
  try {
    const agent = { name: 'default', instructions: 'x', maxToolTurns: 1, maxParallelTools: 1, toolTimeoutSecs: 1 };
    const activities = createActivities({
      store,
      agents: new Map([['default', { ...agent, tools: createToolRegistry([]) }]]),
      providers: createProviderRegistry({ providers: [createOfflineProvider()], default: 'offline/extractive' }),
      catalog: { facts: () => ({ abilities: {} }), costUsd: () => null },
      log: pino({ level: 'silent' }),
      workspace,
    });
    const message = { messageId: 'm', text: 'Where is it?' };
    const opened = await new MockActivityEnvironment().run<[], OpenRunOutput, () => Promise<OpenRunOutput>>(() =>
      activities.openRun({ sessionId: 's', runId: 'r', message, queued: [] }),
    );
    const { storeId, head } = opened;
    const ref = { sessionId: 's', runId: 'r', storeId, head };
    const call = () =>
      new MockActivityEnvironment().run<[], CallModelOutput, () => Promise<CallModelOutput>>(() =>
        activities.callModel({ ref, step: 0 }),
      );
    const first = await call();
    expect(first.head).toBeGreaterThan(head);
    expect(await call()).toEqual(first);
  } finally {
    await store.close();
    rmSync(workspace, { recursive: true });
  }
});
