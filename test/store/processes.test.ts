import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { bundled } from './bundle.ts';
import type { RaceOrder, RaceReport } from './racer.ts';
import { assistantItem, Execution } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

const RACER = await bundled(fileURLToPath(new URL('racer.ts', import.meta.url)));

interface Racer {
  readonly child: ChildProcess;
  /** Settles when its store is open. */
  readonly ready: Promise<unknown>;
  readonly report: Promise<RaceReport>;
}

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dirname(RACER), { recursive: true, force: true });
});

/** Starts a process that races at once. */
function racer(order: RaceOrder): Racer {
  const child = fork(RACER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  const ready = once(child, 'message');
  const report = ready.then(async (): Promise<RaceReport> => (await once(child, 'message'))[0]);
  child.send(order);
  return { child, ready, report };
}

describe.each(availableStores())('$kind: several processes on one store', ({ location, openAt }) => {
  test('two that make the store and do the same run at once are told the same, and one of them is stored', async () => {
    const place = await location();
    const order = { location: place, owner: 'A', scheduledAtMs: 1_000, steps: 25 };
    const racers = ['one', 'two'].map((name) => racer({ ...order, name }));
    const [one, two] = await Promise.all(racers.map((each) => each.report));
    const store = await openAt(place);
    expect(one?.error).toBeUndefined();
    // A slow one finds the run closed: of the last steps it is told nothing.
    const all = { ...one?.told, ...two?.told };
    expect(Object.keys(all)).toHaveLength(51);
    expect(all).toMatchObject(one?.told ?? {});
    expect(all).toMatchObject(two?.told ?? {});
    expect(await store.entries('s')).toHaveLength(51);
    await expectWhole(store, 's');
  });

  test('once another execution has taken over, the former one writes nothing more', async () => {
    const place = await location();
    const store = await openAt(place, { busyTimeoutMs: 60_000 });
    const former = racer({ location: place, owner: 'A', scheduledAtMs: 1_000, name: 'former', steps: 100_000 });
    await former.ready;
    while ((await store.entries('s')).length < 20) await delay(5);

    const later = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'B', scheduledAtMs: 2_000 });
    const { head } = await later.open('m2');
    for (let step = 0; step < 20; step += 1) {
      await later.begin(step);
      await later.commit(step, [assistantItem(`later ${step}`)]);
    }
    expect(await former.report).toMatchObject({ error: 'Fenced' });
    await later.answer('m2');
    const tail = await store.entries('s', { afterSeq: head - 1 });
    expect(new Set(tail.map((entry) => entry.runId))).toEqual(new Set(['r2']));
    expect(await store.run('r1')).toMatchObject({ status: 'abandoned' });
    await expectWhole(store, 's');
  });

  test('a process that is killed while it writes leaves whole steps, and its successor goes on', async () => {
    const place = await location();
    const store = await openAt(place, { busyTimeoutMs: 60_000 });
    let seen = 0;
    for (const attempt of [1, 2]) {
      const killed = racer({
        location: place,
        owner: `A${attempt}`,
        scheduledAtMs: 1_000 * attempt,
        name: 'x',
        steps: 100_000,
      });
      await killed.ready;
      while ((await store.entries('s')).length < seen + 15) await delay(1);
      killed.child.kill('SIGKILL');
      await once(killed.child, 'exit');
      seen = (await store.entries('s')).length;
      await expectWhole(store, 's');
    }
  });
});
