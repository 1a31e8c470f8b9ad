import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createActivities } from '../../src/activities/create-activities.ts';
import type {
  CallDecision,
  CallModelInput,
  CallModelOutput,
  CallToolOutput,
  OpenRunOutput,
  PlannedCall,
} from '../../src/contract/activities.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { argumentsHash } from '../../src/tools/arguments-hash.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { Reconciled, Tool } from '../../src/tools/tool.ts';
import type { FakeAnswer, FakeProvider } from '../fakes/fake-provider.ts';
import { startFakeProvider } from '../fakes/fake-provider.ts';
import { fakeModel, quietRuntime } from '../integration/harness.ts';

let workspace: string;
let store: Store;
let provider: FakeProvider;
let now: number;
/** How often the tool ran; what it waits for, and what it says of a lost attempt. */
let runs: number;
let work: () => Promise<string>;
/** How often an attempt was told to wait for another one. */
let waits: number;
let became: (() => Promise<Reconciled>) | undefined;

beforeAll(quietRuntime);
beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), 'holdfast-call-tool-'));
  now = Date.now();
  store = await openStore(join(workspace, 'store.db'), { now: () => now });
  provider = await startFakeProvider((): FakeAnswer => ({ calls: [{ name: 'act', args: { n: 1 } }] }));
  runs = 0;
  waits = 0;
  work = async () => 'acted';
  became = undefined;
});
afterEach(async () => {
  await store.close();
  await provider.close();
  rmSync(workspace, { recursive: true });
});

function actTool(): Tool {
  return defineTool({
    name: 'act',
    description: 'Acts.',
    input: z.object({ n: z.number() }),
    execute: () => {
      runs += 1;
      return work();
    },
    ...(became === undefined ? {} : { reconcile: became }),
  });
}

function activities() {
  const agent = { name: 'default', instructions: 'x', maxToolTurns: 5, maxParallelTools: 2, toolTimeoutSecs: 30 };
  const beginCall: Store['beginCall'] = async (...args) => {
    const begun = await store.beginCall(...args);
    if (begun.status === 'leased') waits += 1;
    return begun;
  };
  return createActivities({
    store: { ...store, beginCall },
    agents: new Map([['default', { ...agent, tools: createToolRegistry([actTool()]) }]]),
    providers: createProviderRegistry({ providers: [fakeModel(provider.baseURL)], default: 'fake/script' }),
    catalog: { facts: () => ({ abilities: {} }), costUsd: () => null },
    log: pino({ level: 'silent' }),
    workspace,
  });
}

function run<T>(work: () => Promise<T>, activityId: string, attempt = 1): Promise<T> {
  return new MockActivityEnvironment({ activityId, attempt }).run<[], T, () => Promise<T>>(work);
}

type Ref = CallModelInput['ref'];

/** A run whose model has asked for one call. */
async function asked(): Promise<{ ref: Ref; call: PlannedCall }> {
  const message = { messageId: 'm', text: 'go' };
  const opened = await run<OpenRunOutput>(
    () => activities().openRun({ sessionId: 's', runId: 'r', message, queued: [] }),
    'open',
  );
  const { storeId, head } = opened;
  const ref = { sessionId: 's', runId: 'r', storeId, head };
  const answer = await run<CallModelOutput>(() => activities().callModel({ ref, step: 0 }), 'model');
  if (answer.outcome !== 'tools') throw new Error(`the model answered ${answer.outcome}`);
  return { ref: { ...ref, head: answer.head }, call: answer.calls[0] as PlannedCall };
}

const approval: CallDecision = { argumentsHash: argumentsHash('act', { n: 1 }), decision: 'approve', by: 'me' };

function attempt(ref: Ref, call: PlannedCall, n: number, decision: CallDecision | undefined): Promise<CallToolOutput> {
  const more = decision === undefined ? {} : { decision };
  return run(() => activities().callTool({ ref, step: 0, callId: call.callId, ...more }), 'call', n);
}

describe('a call that must ask', () => {
  test('is planned with its deadline and the hash of its arguments, and people are asked', async () => {
    const { call } = await asked();
    expect(call.approval).toMatchObject({ name: 'act', argumentsHash: approval.argumentsHash });
    expect(await store.openApprovals()).toMatchObject([{ callId: call.callId, argumentsHash: approval.argumentsHash }]);
  });

  test.each([
    ['without a decision', undefined],
    ['with an approval of other arguments', { ...approval, argumentsHash: argumentsHash('act', { n: 2 }) }],
    ['with a denial', { ...approval, decision: 'deny' }],
    [
      'with an approval for the session of other arguments',
      { ...approval, decision: 'approve_session', argumentsHash: '' },
    ],
  ] as const)('is not run %s', async (_, decision) => {
    const { ref, call } = await asked();
    expect(await attempt(ref, call, 1, decision)).toMatchObject({ status: 'denied' });
    expect(runs).toBe(0);
    // Whatever comes later: the first result stands.
    expect(await attempt(ref, call, 2, approval)).toMatchObject({ status: 'denied' });
    expect(runs).toBe(0);
  });

  test('runs once when it is approved, and answers from the store afterwards', async () => {
    const { ref, call } = await asked();
    expect(await attempt(ref, call, 1, approval)).toEqual({ status: 'ok', preview: 'acted' });
    expect(await attempt(ref, call, 2, approval)).toEqual({ status: 'ok', preview: 'acted' });
    expect(runs).toBe(1);
  });
});

describe('a second attempt at a call that must not run twice', () => {
  /** A first attempt that has begun its work and hangs. */
  async function hanging() {
    const { ref, call } = await asked();
    let finish: (text: string) => void = () => undefined;
    let began: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      began = resolve;
    });
    work = () => {
      began();
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const first = attempt(ref, call, 1, approval);
    await started;
    work = async () => 'acted again';
    return { ref, call, first, finish };
  }

  test('waits while the first may still be at work, and takes its result', async () => {
    const { ref, call, first, finish } = await hanging();
    const second = attempt(ref, call, 2, approval);
    await expect.poll(() => waits).toBeGreaterThan(1);
    finish('acted at last');
    expect(await first).toEqual({ status: 'ok', preview: 'acted at last' });
    expect(await second).toEqual({ status: 'ok', preview: 'acted at last' });
    expect(runs).toBe(1);
  });

  test('does not run the tool once the first is lost, and the model is told later what that one did, once', async () => {
    const { ref, call, first, finish } = await hanging();
    now += 60_000;
    expect(await attempt(ref, call, 2, approval)).toMatchObject({ status: 'unknown_outcome' });
    finish('acted at last');
    await expect(first).rejects.toMatchObject({ type: 'Fenced' });
    expect(runs).toBe(1);
    provider.answer = () => ({ text: 'fine' });
    await run(() => activities().callModel({ ref, step: 1 }), 'model-1');
    const told = JSON.stringify(provider.requests.at(-1)?.body);
    expect(told).toContain('acted at last');
    expect(await store.lateResults('s')).toEqual([]);
  });

  test.each([
    ['done', async (): Promise<Reconciled> => ({ outcome: 'done', output: 'it was done' }), 'ok', 'it was done', 1],
    ['not done', async (): Promise<Reconciled> => ({ outcome: 'not_done' }), 'ok', 'acted again', 2],
    ['not known', async (): Promise<Reconciled> => ({ outcome: 'unknown' }), 'unknown_outcome', 'No result', 1],
    [
      'not to be found out',
      () => Promise.reject(new Error('no such mailbox')),
      'unknown_outcome',
      'no such mailbox',
      1,
    ],
  ] as const)('asks the tool what became of the first: %s', async (_, reconcile, status, text, times) => {
    became = reconcile;
    const { ref, call, first, finish } = await hanging();
    now += 60_000;
    expect(await attempt(ref, call, 2, approval)).toMatchObject({ status, preview: expect.stringContaining(text) });
    finish('late');
    await expect(first).rejects.toMatchObject({ type: 'Fenced' });
    expect(runs).toBe(times);
  });
});
