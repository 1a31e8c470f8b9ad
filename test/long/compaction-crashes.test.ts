import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.ts';
import { validate } from '../../src/transcript/validate.ts';
import { type BilledRequest, type CachingProvider, startCachingProvider } from '../fakes/caching-provider.ts';
import { faithful, isSummarising, type Summariser, smallWindow } from '../fakes/summarisers.ts';
import type { CrashPlan } from './crashes/crash-plan.ts';
import { SETUP } from './crashes/crash-setup.ts';
import { type OwnServer, startOwnServer } from './endless/own-server.ts';
import { agentAnswer } from './endless/script.ts';

const ACTIVITIES = ['planCompaction', 'flushMemory', 'summarize', 'commitCheckpoint'] as const;
const MOMENTS = ['before', 'inside', 'after'] as const;
const MATRIX = ACTIVITIES.flatMap((activity) => MOMENTS.map((at): CrashPlan => ({ activity, at })));

const SUMMARISERS: Readonly<Record<string, Summariser>> = {
  whole: faithful(),
  // Takes the transcript in pieces, each of which is committed.
  pieces: smallWindow(2400, faithful()),
};

let temporal: OwnServer;
let provider: CachingProvider;
let requests: BilledRequest[] = [];

beforeAll(async () => {
  temporal = await startOwnServer(38_233);
  provider = await startCachingProvider({
    window: () => SETUP.window,
    answer: (asked) =>
      isSummarising(asked) ? (SUMMARISERS[asked.model] ?? faithful())(asked) : agentAnswer(SETUP.work, asked),
    seen: (request) => requests.push(request),
  });
});
afterAll(async () => {
  await provider.close();
  await temporal.close();
});

/** What a run left: everything that must not depend on a crash, and what the summariser was paid for. */
interface Left {
  /** Bytes of the last request. */
  readonly lastRequest: string;
  readonly checkpoints: readonly unknown[];
  readonly kinds: readonly string[];
  /** Answered requests for a summary, by their bytes. */
  readonly summaries: readonly string[];
}

/** Runs the session in a folder of its own, with a worker that dies as planned and another that goes on. */
async function run(model: string, plan?: CrashPlan): Promise<Left> {
  const own = join(
    temporal.folder,
    `${model}-${plan === undefined ? 'calm' : `${plan.activity}-${plan.at}-${plan.commit ?? 1}`}`,
  );
  mkdirSync(own, { recursive: true });
  requests = [];
  const { address, namespace } = temporal.server;
  const workers: ChildProcess[] = [await startWorkerProcess(own, plan)];
  const client = await HoldfastClient.connect({
    connection: { address },
    namespace,
    store: join(own, 'holdfast.db'),
  });
  try {
    const sessionId = `crash.${own.split('/').at(-1)}`;
    const sent = await client.send({ sessionId, text: 'Read it all.', model: `openai-chat/${model}` });
    if (plan !== undefined) {
      await expect.poll(() => existsSync(join(own, 'crashed')), { timeout: 120_000 }).toBe(true);
      workers.push(await startWorkerProcess(own));
    }
    expect((await client.result(sent)).event).toMatchObject({ type: 'final_response', text: 'All parts are read.' });
    const entries = await client.transcript(sessionId);
    expect(
      validate(
        entries.map(({ item }) => item),
        { tail: 'closed', seqs: entries.map(({ seq }) => seq) },
      ),
    ).toEqual([]);
    const checkpoints = await client.store.checkpoints(sessionId);
    return {
      lastRequest: JSON.stringify(requests.at(-1)?.body),
      checkpoints: checkpoints.map(({ summary, firstKeptSeq, protectedSeqs, tokensBefore, tokensAfter, quality }) => [
        ...[summary, firstKeptSeq, protectedSeqs, tokensBefore, tokensAfter, quality],
      ]),
      kinds: entries.map(({ item }) => item.kind),
      summaries: requests
        .filter(({ asked, status }) => status === 200 && isSummarising(asked))
        .map(({ body }) => JSON.stringify(body)),
    };
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await client.close();
  }
}

async function startWorkerProcess(own: string, plan?: CrashPlan): Promise<ChildProcess> {
  const args = [
    own,
    temporal.server.address,
    temporal.server.namespace,
    provider.url,
    ...(plan === undefined ? [] : [JSON.stringify(plan)]),
  ];
  const child = spawn(process.execPath, [resolve('dist/test/long/crashes/crash-worker.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((ready, failed) => {
    child.once('exit', (code) => failed(new Error(`worker ended with ${code}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', () => ready());
  });
  return child;
}

describe('a worker killed in a compaction', () => {
  let calm: Left;
  beforeAll(async () => {
    calm = await run('whole');
    expect(calm.checkpoints.length).toBeGreaterThan(1);
  }, 300_000);

  test.each(MATRIX)('$at $activity: the next worker leaves what an undisturbed run leaves', async (plan) => {
    const { summaries, ...left } = await run('whole', plan);
    const { summaries: calmSummaries, ...calmLeft } = calm;
    expect(left).toEqual(calmLeft);
    // An answer that was not committed when the worker died is lost, and asked for again; no other.
    const lost = plan.activity === 'summarize' && plan.at === 'inside' ? calmSummaries.slice(0, 1) : [];
    expect(summaries.toSorted()).toEqual([...calmSummaries, ...lost].toSorted());
  });
});

describe('a worker killed between the pieces of a long summary', () => {
  let calm: Left;
  beforeAll(async () => {
    calm = await run('pieces');
    expect(calm.summaries.length).toBeGreaterThan(calm.checkpoints.length);
  }, 300_000);

  test.each(['inside', 'after'] as const)('%s the second commit: committed pieces are not paid again', async (at) => {
    const disturbed = await run('pieces', { activity: 'summarize', at, commit: 2 });
    expect(disturbed.lastRequest).toBe(calm.lastRequest);
    const paid = disturbed.summaries.length - calm.summaries.length;
    expect(paid).toBe(at === 'inside' ? 1 : 0);
  });
});
