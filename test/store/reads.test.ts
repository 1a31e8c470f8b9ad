import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { assistantItem, Execution, message } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: reads', ({ make, location, openAt }) => {
  test('items and events come in pages, from any position', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    const texts = ['a', 'b', 'c', 'd'];
    await run.commit(0, texts.map(assistantItem), {
      events: texts.map((text) => ({
        type: 'assistant_message_done',
        step: 0,
        text,
        usage: null,
        stopReason: { unified: 'stop', raw: null },
      })),
    });
    expect((await store.entries('s', { afterSeq: 1, limit: 2 })).map((entry) => entry.seq)).toEqual([2, 3]);
    expect((await store.entries('s', { afterSeq: 3 })).map((entry) => entry.seq)).toEqual([4, 5]);
    expect(await store.entries('s', { afterSeq: 5 })).toEqual([]);
    expect(await store.entries('nobody')).toEqual([]);
    expect((await store.events('r1', { from: 3 })).map((event) => event.index)).toEqual([3, 4]);
    expect((await store.events('r1', { from: 1, limit: 2 })).map((event) => event.index)).toEqual([1, 2]);
    expect(await store.events('nobody')).toEqual([]);
  });

  test('whatever a model or user writes comes back as it was', async () => {
    const store = await make();
    const odd = 'NUL \0, halves \ud800 \udc00, 😀, "quotes", \\u0000, \u2028';
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await store.openRun(run.writer(), { ...run.opening('m1'), message: message('m1', odd), config: { odd } });
    Object.assign(run, { storeId: (await store.identity()).storeId, head: 1 });
    await run.begin(0);
    const deltas = [{ kind: 'text', text: odd }] as const;
    await store.appendDeltas(run.writer(), { ref: run.ref(), step: 0, attempt: 1, from: 0, deltas });
    expect((await store.deltas('r1'))?.deltas).toEqual(deltas);
    const item = { ...assistantItem(odd), content: [{ type: 'extension', name: odd, data: { [odd]: odd } }] } as const;
    await run.commit(0, [assistantItem(odd), item], { request: { odd }, outcome: [odd] });
    const items = (await store.entries('s')).map((entry) => entry.item);
    expect(items).toMatchObject([
      { content: [{ text: odd }] },
      { content: [{ text: odd }] },
      { content: [item.content[0]] },
    ]);
    expect(await store.request('r1', 0)).toMatchObject({ request: { odd }, outcome: [odd] });
    expect(await store.run('r1')).toMatchObject({ config: { odd } });
    expect((await store.session('s'))?.title).not.toContain('\0');
  });

  test('deltas are read after a cursor, start over when the attempt grew, and go with the commit', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    const append = (attempt: number, from: number, ...texts: readonly string[]) =>
      store.appendDeltas(run.writer({ activityId: 'step-0', attempt }), {
        ref: run.ref(),
        step: 0,
        attempt,
        from,
        deltas: texts.map((text) => ({ kind: 'text', text })),
      });
    await append(1, 0, 'a', 'b');
    await append(1, 0, 'a', 'b');
    await append(1, 2, 'c');
    const first = await store.deltas('r1');
    expect(first).toMatchObject({
      step: 0,
      attempt: 1,
      next: 3,
      deltas: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
    });
    expect(await store.deltas('r1', { step: 0, attempt: 1, next: 2 })).toMatchObject({
      next: 3,
      deltas: [{ text: 'c' }],
    });
    expect(await store.deltas('r1', { step: 0, attempt: 1, next: 3 })).toMatchObject({ next: 3, deltas: [] });
    await append(2, 0, 'x');
    expect(await store.deltas('r1', { step: 0, attempt: 1, next: 3 })).toMatchObject({
      attempt: 2,
      next: 1,
      deltas: [{ text: 'x' }],
    });
    await run.commit(0, [assistantItem('xy')], {}, run.writer({ activityId: 'step-0', attempt: 2 }));
    expect(await store.deltas('r1')).toBeUndefined();
    await append(2, 1, 'y');
    expect(await store.deltas('r1')).toBeUndefined();
    expect((await store.events('r1')).map(({ event }) => event.type)).toEqual(['run_started']);
  });

  test('sessions are listed by their latest change, in pages without gaps or repeats among equal times', async () => {
    const store = await make({ now: () => 5_000 });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await new Execution(store, { sessionId: id, runId: `run-${id}` }).open(`m-${id}`);
    const seen: string[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await store.sessions(before === undefined ? { limit: 2 } : { limit: 2, before });
      seen.push(...page.map((row) => row.sessionId));
      const last = page.at(-1);
      if (last === undefined) break;
      before = `${last.updatedAt} ${last.sessionId}`;
    }
    expect(seen).toEqual(ids.toReversed());
    expect(await store.session('nobody')).toBeUndefined();
  });

  test('sessions of subagents are listed below theirs, or left out', async () => {
    const store = await make({ now: () => 5_000 });
    const ids = ['a', 'a/sub/1', 'a/sub/1/sub/2', 'a_b', 'a_b/sub/3', 'axb/sub/4'];
    for (const id of ids) await new Execution(store, { sessionId: id, runId: `run-${id}` }).open(`m-${id}`);
    const listed = async (page: object): Promise<readonly string[]> =>
      (await store.sessions({ limit: 10, ...page })).map((row) => row.sessionId).sort();
    expect(await listed({ under: 'a' })).toEqual(['a/sub/1', 'a/sub/1/sub/2']);
    expect(await listed({ under: 'a/sub/1' })).toEqual(['a/sub/1/sub/2']);
    expect(await listed({ under: 'a_b' })).toEqual(['a_b/sub/3']);
    expect(await listed({ top: true })).toEqual(['a', 'a_b']);
    expect(await listed({})).toEqual(ids.toSorted());
  });

  test('the title is the first line of the first message', async () => {
    const store = await make();
    for (const [n, text] of ['\n  first\nmore', 'second'].entries()) {
      const run = new Execution(store, { sessionId: 's', runId: `r${n}` });
      await store.openRun(run.writer(), { ...run.opening(`m${n}`), message: message(`m${n}`, text) });
    }
    expect((await store.session('s'))?.title).toBe('first');
  });

  test('a blob is stored once, under the hash of its bytes', async () => {
    const store = await make();
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const ref = await store.putBlob(bytes, 'image/png', 'a.png');
    expect(ref).toEqual({
      sha256: createHash('sha256').update(bytes).digest('hex'),
      mediaType: 'image/png',
      byteLength: 70_000,
      name: 'a.png',
    });
    await store.putBlob(bytes, 'image/png');
    expect(await store.blob(ref.sha256)).toEqual(bytes);
    expect(await store.blob('0'.repeat(64))).toBeUndefined();
  });

  test('a reader is told of news of its run, from this store or another on the same place', async () => {
    const place = await location();
    const writing = await openAt(place);
    const reading = await openAt(place);
    const run = new Execution(writing, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    let news = 0;
    let wake = (): void => {};
    const stop = reading.onChange('r1', () => {
      news += 1;
      wake();
    });
    const told = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    await run.begin(0);
    const first = told();
    await run.commit(0, [assistantItem('x')], { events: [{ type: 'hook_failed', hook: 'h', message: 'm' }] });
    await first;
    expect(news).toBeGreaterThan(0);
    stop();
  });

  test('a store that can be read and written passes its check', async () => {
    const store = await make();
    await expect(store.check()).resolves.toBeUndefined();
  });
});
