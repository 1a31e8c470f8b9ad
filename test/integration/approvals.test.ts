import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ApprovalRequest } from '../../src/client/approvals.ts';
import type { SentMessage } from '../../src/client/holdfast-client.ts';
import type { ApprovalResolution } from '../../src/contract/messages.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createPolicy } from '../../src/tools/policy.ts';
import type { AgentEvent } from '../../src/transcript/events.ts';
import type { ToolResult } from '../../src/transcript/items.ts';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf, workTool } from './scripts.ts';

/** What the tool with an effect did, in order. */
let done: string[] = [];
const publish = defineTool({
  name: 'publish',
  description: 'Publishes a page.',
  input: z.object({ page: z.string() }),
  label: ({ page }) => `publish ${page}`,
  execute: ({ page }) => {
    done.push(page);
    return `published ${page}`;
  },
});

const POLICY = createPolicy([
  { tool: 'publish', arguments: { page: 'draft-*' }, decision: 'allow' },
  { tool: 'publish', arguments: { page: '*secret*' }, decision: 'deny', reason: 'Secrets stay here.' },
]);

/** The user's text is what to publish, page by page; `look` adds a read-only call; `twice` publishes in two steps. */
function answer(request: SeenRequest): FakeAnswer {
  const [how, ...pages] = lastUserText(request).split(' ');
  const turn = turnOf(request);
  const calls = pages.map((page) => ({ name: 'publish', args: { page } }));
  if (how === 'twice' && turn < 2) return { calls: calls.slice(turn, turn + 1) };
  if (turn > 0) return { text: `done: ${how}` };
  if (how === 'look') return { calls: [{ name: 'work', args: { n: 1 } }, ...calls] };
  return calls.length === 0 ? { text: `done: ${how}` } : { calls };
}

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ tools: [publish, workTool], answer, policy: POLICY });
});
afterAll(() => harness.stop());
beforeEach(() => {
  done = [];
});

async function waiting(sessionId: string, count = 1): Promise<readonly ApprovalRequest[]> {
  await expect.poll(async () => (await harness.client.pendingApprovals(sessionId)).length).toBe(count);
  return harness.client.pendingApprovals(sessionId);
}

function decide(
  { sessionId, callId, argumentsHash }: ApprovalRequest,
  decision: ApprovalResolution['decision'],
  note?: string,
) {
  const more = note === undefined ? {} : { note };
  return harness.client.resolveApproval(sessionId, { callId, argumentsHash, decision, by: 'tester', ...more });
}

async function ended(sent: SentMessage): Promise<{ results: ToolResult[]; events: AgentEvent[]; last: AgentEvent }> {
  const { event, runId } = await harness.client.result(sent);
  const entries = await harness.client.transcript(sent.sessionId);
  const items = entries.map(({ item }) => item);
  expect(validate(items, { tail: 'closed', seqs: entries.map(({ seq }) => seq) })).toEqual([]);
  const results = items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
  return { results, events: (await harness.store.events(runId)).map((recorded) => recorded.event), last: event };
}

const send = (sessionId: string, text: string) => harness.client.send({ sessionId, text });
const textOf = (result: ToolResult | undefined) => JSON.stringify(result?.content);
const resolutions = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'approval_resolved');

describe('a call that must ask', () => {
  test('runs when it is approved, and not before; meanwhile the run waits', async () => {
    const sent = await send('approve', 'go page-1');
    const [asked] = await waiting('approve');
    expect(asked).toMatchObject({ name: 'publish', label: 'publish page-1', arguments: { page: 'page-1' } });
    expect(Date.parse(asked?.deadline ?? '') - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect((await harness.client.runs('approve')).at(-1)?.status).toBe('waiting');
    expect((await harness.client.status('approve')).status).toBe('waiting');
    expect(done).toEqual([]);
    await decide(asked as ApprovalRequest, 'approve');
    const { results, events } = await ended(sent);
    expect(done).toEqual(['page-1']);
    expect(results).toMatchObject([{ status: 'ok' }]);
    expect(resolutions(events)).toMatchObject([{ decision: 'approve', by: 'tester' }]);
    expect(events.map(({ type }) => type).filter((type) => /approval|started/.test(type))).toEqual([
      'run_started',
      'approval_requested',
      'approval_resolved',
      'tool_call_started',
    ]);
    expect(await harness.client.pendingApprovals('approve')).toEqual([]);
  });

  test('is not asked about again in the session once it is approved for it, in another session it is', async () => {
    const sent = await send('granted', 'twice page-1 page-2');
    const [asked] = await waiting('granted');
    await decide(asked as ApprovalRequest, 'approve_session');
    await ended(sent);
    await ended(await send('granted', 'go page-3'));
    expect(done).toEqual(['page-1', 'page-2', 'page-3']);
    const other = await send('ungranted', 'go page-4');
    await waiting('ungranted');
    await harness.client.cancel('ungranted');
    await ended(other);
    expect(done).toHaveLength(3);
  });

  test('an approval for the session covers the calls of the tool that wait already', async () => {
    const sent = await send('both', 'go page-1 page-2');
    const [asked] = await waiting('both', 2);
    await decide(asked as ApprovalRequest, 'approve_session');
    const { results, events } = await ended(sent);
    expect(results).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    expect(resolutions(events)).toHaveLength(2);
  });

  test('is not run when it is denied, and the model reads why', async () => {
    const sent = await send('deny', 'go page-1');
    const [asked] = await waiting('deny');
    await decide(asked as ApprovalRequest, 'deny', 'Not on a Friday.');
    const { results, events } = await ended(sent);
    expect(done).toEqual([]);
    expect(results).toMatchObject([{ status: 'denied' }]);
    expect(textOf(results[0])).toContain('The user says: Not on a Friday.');
    expect(JSON.stringify(harness.provider.requests.at(-1)?.body)).toContain('Not on a Friday.');
    expect(resolutions(events)).toMatchObject([{ decision: 'deny', note: 'Not on a Friday.' }]);
  });

  test('of two that wait one may be denied and the other approved; a third that asks nobody runs at once', async () => {
    const sent = await send('two', 'look page-1 page-2');
    const [first, second] = await waiting('two', 2);
    await expect.poll(async () => (await harness.client.status('two')).status).toBe('waiting');
    await decide(first as ApprovalRequest, 'deny');
    await waiting('two', 1);
    expect((await harness.client.runs('two')).at(-1)?.status).toBe('waiting');
    await decide(second as ApprovalRequest, 'approve');
    const { results } = await ended(sent);
    const denied = results.findIndex(({ callId }) => callId === first?.callId);
    expect(results.map(({ status }, n) => (n === denied ? 'denied!' : status)).sort()).toEqual(['denied!', 'ok', 'ok']);
    expect(results[denied]?.status).toBe('denied');
    expect(done).toHaveLength(1);
  });

  test('takes no approval for other arguments, and no second decision', async () => {
    const sent = await send('hash', 'go page-1');
    const [asked] = await waiting('hash');
    const wrong = { ...(asked as ApprovalRequest), argumentsHash: 'f'.repeat(64) };
    await expect(decide(wrong, 'approve')).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(decide({ ...wrong, callId: 'call_none' }, 'approve')).rejects.toMatchObject({ code: 'NotFound' });
    expect(done).toEqual([]);
    await decide(asked as ApprovalRequest, 'approve');
    await ended(sent);
    await expect(decide(asked as ApprovalRequest, 'deny')).rejects.toMatchObject({ code: 'NotFound' });
    expect(done).toEqual(['page-1']);
  });

  test('ends as never started when the run is cancelled while it waits', async () => {
    const sent = await send('cancel', 'go page-1');
    await waiting('cancel');
    await harness.client.cancel('cancel', 'enough');
    const { results, last } = await ended(sent);
    expect(last).toMatchObject({ type: 'loop_aborted', reason: 'enough' });
    expect(results).toMatchObject([{ status: 'aborted' }]);
    expect(await harness.client.pendingApprovals('cancel')).toEqual([]);
    expect((await harness.client.runs('cancel')).at(-1)?.status).toBe('cancelled');
    await ended(await send('cancel', 'hello'));
    expect(done).toEqual([]);
  });

  test('is denied by whoever sends a message instead, which is read at once', async () => {
    const sent = await send('instead', 'go page-1');
    await waiting('instead');
    const steer = await harness.client.send({ sessionId: 'instead', text: 'stop', mode: 'steer', denyPending: true });
    const { results, last } = await ended(sent);
    await harness.client.result(steer);
    expect(results).toMatchObject([{ status: 'denied' }]);
    expect(last).toMatchObject({ type: 'final_response', text: 'done: stop' });
    expect(done).toEqual([]);
  });
});

describe('the policy', () => {
  test('lets a call run without asking, or denies it with the reason of the rule', async () => {
    const { results, events } = await ended(await send('policy', 'go draft-1 my-secret'));
    expect(done).toEqual(['draft-1']);
    expect(results).toMatchObject([{ status: 'ok' }, { status: 'denied' }]);
    expect(textOf(results[1])).toContain('Secrets stay here.');
    expect(events.some(({ type }) => type === 'approval_requested')).toBe(false);
  });
});

describe('other workers', () => {
  let own: Harness | undefined;
  const usual = (): Harness => harness;
  let before: Harness;
  beforeEach(() => {
    before = usual();
  });
  afterEach(async () => {
    await own?.stop();
    harness = before;
  });

  test('a deadline that passes gives the call up, and says that nothing happened', async () => {
    own = await startHarness({ tools: [publish], answer, approvalDeadlineSecs: 1 });
    harness = own;
    const { results, events } = await ended(await send('deadline', 'go page-1'));
    expect(results).toMatchObject([{ status: 'timed_out' }]);
    expect(textOf(results[0])).toContain('nobody approved it before its deadline');
    expect(resolutions(events)).toMatchObject([{ decision: 'timed_out', by: 'deadline' }]);
    expect(done).toEqual([]);
  });

  test('a run that waits goes on with another worker; one with stricter rules wins over an approval', async () => {
    const first = await startHarness({ tools: [publish], answer });
    harness = first;
    own = first;
    const kept = await send('restart', 'go page-1');
    const strict = await send('stricter', 'go page-2');
    await waiting('restart');
    await waiting('stricter');
    await first.stop({ keep: true });
    const policy = createPolicy([{ arguments: { page: 'page-2' }, decision: 'deny', reason: 'New rule.' }]);
    own = await startHarness({ tools: [publish], answer, policy, resume: first });
    harness = own;
    for (const session of ['restart', 'stricter']) {
      const [asked] = await waiting(session);
      await decide(asked as ApprovalRequest, 'approve');
    }
    expect((await ended(kept)).results).toMatchObject([{ status: 'ok' }]);
    const { results } = await ended(strict);
    expect(results).toMatchObject([{ status: 'denied' }]);
    expect(textOf(results[0])).toContain('New rule.');
    expect(done).toEqual(['page-1']);
  });
});
