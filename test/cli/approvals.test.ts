import { describe, expect, test } from 'vitest';
import { type PromptOptions, withApprovals } from '../../src/cli/approval-prompt.ts';
import { approvalLines } from '../../src/cli/render/approval-lines.ts';
import type { ApprovalRequest } from '../../src/client/approvals.ts';
import type { ApprovalResolution, PendingApproval } from '../../src/contract/messages.ts';
import type { AgentEvent, RecordedEvent } from '../../src/transcript/events.ts';

const REQUEST: ApprovalRequest = {
  sessionId: 'demo',
  runId: 'r',
  step: 0,
  callId: 'call_1',
  name: 'publish',
  label: 'publish page',
  argumentsHash: 'hash',
  deadline: '2030-01-02T00:00:00.000Z',
  askedAt: '2030-01-01T00:00:00.000Z',
  arguments: { page: 'page', text: 'one\u001b[2K\u202etwo', to: 'p\u0430ypal.com' },
};
const NOW = Date.parse('2030-01-01T00:30:00.000Z');

describe('the list of calls that wait', () => {
  test('has all that a person needs to decide, and nothing that looks like something else', () => {
    expect(approvalLines([REQUEST], { now: NOW, all: false })).toBe(
      [
        'publish in session demo',
        '  publish page',
        '  {',
        '    "page": "page",',
        '    "text": "one\\u001b[2K\\u{202e}two",',
        '    "to": "p\\u{430}ypal.com"',
        '  }',
        '  until 2030-01-02 00:00:00 UTC (23 h left)',
        '  holdfast approve demo call_1   or   holdfast deny demo call_1 --note "why"',
        '',
      ].join('\n'),
    );
  });

  test('cuts long arguments, tells so, and shows them whole when asked', () => {
    const long = { ...REQUEST, arguments: { content: 'x'.repeat(10_000) } };
    expect(approvalLines([long], { now: NOW, all: false })).toMatch(
      /… 60\d\d characters more \(holdfast approvals --all/,
    );
    expect(approvalLines([long], { now: NOW, all: true })).toContain('x'.repeat(10_000));
  });

  test.each([
    [NOW, '23 h left'],
    [Date.parse(REQUEST.deadline) - 90_000, '1 min left'],
    [Date.parse(REQUEST.deadline) - 1_500, '2 s left'],
    [Date.parse(REQUEST.deadline), 'passed'],
  ])('at %d it says %s', (now, expected) => {
    expect(approvalLines([REQUEST], { now, all: false })).toContain(`(${expected})`);
  });

  test('says so when there is none', () => {
    expect(approvalLines([], { now: NOW, all: false })).toBe('No call waits for an approval.\n');
  });
});

const requested = (callId: string): AgentEvent => ({
  type: 'tool_call_requested',
  step: 0,
  callId,
  name: 'publish',
  label: 'publish',
  arguments: { page: `page of ${callId}` },
});
const asked = (callId: string): AgentEvent => ({
  type: 'approval_requested',
  step: 0,
  callId,
  name: 'publish',
  label: 'publish',
  argumentsHash: `hash of ${callId}`,
  deadline: REQUEST.deadline,
});
const resolved = (callId: string): AgentEvent => ({
  type: 'approval_resolved',
  step: 0,
  callId,
  decision: 'approve',
  by: 'another',
});

/** Looks at the events as a terminal would; a text stands for a key that is pressed when it comes. */
async function watched(
  script: readonly (AgentEvent | string)[],
  options: { readonly open: readonly string[]; readonly keys?: false },
): Promise<{ notes: string[]; decided: ApprovalResolution[]; listening: boolean }> {
  const notes: string[] = [];
  const decided: ApprovalResolution[] = [];
  let pressed: ((key: string) => void) | undefined;
  async function* source(): AsyncGenerator<RecordedEvent> {
    for (const [index, one] of script.entries()) {
      if (typeof one === 'string') pressed?.(one);
      else yield { schemaVersion: 1, runId: 'r', index, at: REQUEST.askedAt, event: one };
    }
  }
  const keys: PromptOptions['keys'] = (listener) => {
    pressed = listener;
    return () => {
      pressed = undefined;
    };
  };
  const client = {
    store: { openApprovals: async () => options.open.map((callId) => ({ ...REQUEST, callId })) },
    resolveApproval: async (_: string, resolution: ApprovalResolution): Promise<PendingApproval> => {
      decided.push(resolution);
      return { ...REQUEST, ...resolution };
    },
  } as unknown as PromptOptions['client'];
  const more = options.keys === false ? {} : { keys };
  const events = withApprovals(source(), { client, sessionId: 'demo', note: (line) => notes.push(line), ...more });
  let listening = false;
  for await (const _ of events) listening ||= pressed !== undefined;
  expect(pressed).toBeUndefined();
  return { notes, decided, listening };
}

describe('a run that is watched', () => {
  test('tells the commands that answer where nobody can press a key', async () => {
    const { notes } = await watched([requested('a'), asked('a')], { open: ['a'], keys: false });
    expect(notes).toEqual(['Answer with: holdfast approve demo a   or   holdfast deny demo a --note "why"']);
  });

  test('says nothing of questions that were answered long ago', async () => {
    const { notes, listening } = await watched([requested('a'), asked('a'), resolved('a')], { open: [] });
    expect(notes).toEqual([]);
    expect(listening).toBe(false);
  });

  test('asks one call after the other, with its arguments, and takes y, n and s only', async () => {
    const { notes, decided } = await watched(
      [requested('a'), requested('b'), asked('a'), asked('b'), 'x', '\r', 'y', 'toString', 'n', 'y'],
      { open: ['a', 'b'] },
    );
    expect(decided).toMatchObject([
      { callId: 'a', decision: 'approve', argumentsHash: 'hash of a' },
      { callId: 'b', decision: 'deny', argumentsHash: 'hash of b' },
    ]);
    expect(notes.filter((line) => line.includes('page of'))).toHaveLength(2);
  });

  test('goes on to the next one when somebody else decides', async () => {
    const script = [requested('a'), requested('b'), asked('a'), asked('b'), resolved('a'), 's'];
    const { decided } = await watched(script, { open: ['a', 'b'] });
    expect(decided).toMatchObject([{ callId: 'b', decision: 'approve_session' }]);
  });
});
