import { expect } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { TERMINAL_EVENT_TYPES } from '../../src/transcript/events.ts';
import { validate } from '../../src/transcript/validate.ts';

/** Asserts what must hold of a session whatever happened to it. */
export async function expectWhole(store: Store, sessionId: string): Promise<void> {
  const entries = await store.entries(sessionId);
  const runs = await store.runs(sessionId);
  expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index + 1));
  const open = runs.filter((run) => run.status === 'running');
  expect(open.length).toBeLessThanOrEqual(1);
  const items = entries.map((entry) => entry.item);
  expect(validate(items, { tail: open.length === 1 ? 'open' : 'closed' })).toEqual([]);
  for (const item of items) {
    for (const result of item.kind === 'tool_result_batch' ? item.results : []) {
      const stored = await store.callResult(runs[0]?.runId ?? '', result.callId);
      expect(stored).toMatchObject({ status: result.status });
    }
  }
  await expectEndedOnce(store, sessionId);
  await expectCompacted(store, sessionId);
}

/** The view's revision is told by what was committed; each checkpoint is the result of its compaction, and none goes back. */
async function expectCompacted(store: Store, sessionId: string): Promise<void> {
  const [checkpoints, edits] = [await store.checkpoints(sessionId), await store.viewEdits(sessionId)];
  const last = checkpoints.at(-1);
  expect(await store.viewRevision(sessionId)).toBe(`${last?.compactionId ?? 'start'}/${edits.length}`);
  expect(await store.checkpoint(sessionId)).toEqual(last);
  const kept = checkpoints.map(({ firstKeptSeq }) => firstKeptSeq);
  expect(kept).toEqual(kept.toSorted((left, right) => left - right));
  for (const { compactionId } of checkpoints) {
    expect(await store.phases(compactionId)).toContainEqual(expect.objectContaining({ phase: 'result' }));
  }
}

/** Events without gaps; each message that a run took in ends exactly when the run does, in exactly one event. */
async function expectEndedOnce(store: Store, sessionId: string): Promise<void> {
  const ends = new Map<string, number>();
  for (const run of await store.runs(sessionId)) {
    const events = await store.events(run.runId);
    expect(events.map((event) => event.index)).toEqual(events.map((_, index) => index));
    const terminal = events.flatMap(({ event }) => ('answers' in event ? [event] : []));
    expect(terminal.every((event) => TERMINAL_EVENT_TYPES.includes(event.type))).toBe(true);
    for (const id of terminal.flatMap((event) => event.answers)) ends.set(id, (ends.get(id) ?? 0) + 1);
    const committed = (await store.requests(run.runId)).filter((request) => request.outcome !== null);
    expect(run.steps).toBe(committed.length);
    for (const id of run.messageIds) {
      const answers = (await store.outcome(sessionId, id))?.event.answers ?? [];
      expect(answers.includes(id), `${id} of a run that is ${run.status} ended`).toBe(run.status !== 'running');
    }
  }
  for (const [id, times] of ends) {
    expect(times, `terminal events that name ${id}`).toBe(1);
    expect((await store.outcome(sessionId, id))?.event.answers).toContain(id);
  }
}
