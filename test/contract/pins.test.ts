import { expect, test } from 'vitest';
import { ERROR_HINTS } from '../../src/contract/errors.ts';
import * as identity from '../../src/contract/identity.ts';
import * as messages from '../../src/contract/messages.ts';
import { TERMINAL_EVENT_TYPES } from '../../src/transcript/events.ts';

// Pins. Histories and stores in the wild hold these strings: changing one here means every running agent must be told.

test('workflow types, task queues and the lock of a session', () => {
  expect(identity.AGENT_RUN).toBe('agentRun');
  expect(identity.COMPACT_SESSION).toBe('compactSession');
  expect(identity.TASK_QUEUE).toBe('holdfast');
  expect(identity.TOOLS_TASK_QUEUE).toBe('holdfast-tools');
  expect(identity.workflowIdOf('demo')).toBe('session/demo');
  expect(identity.SEARCH_ATTRIBUTES).toEqual([
    'HoldfastSession',
    'HoldfastAgent',
    'HoldfastModel',
    'HoldfastStatus',
    'HoldfastRun',
  ]);
});

test('signals, updates and queries', () => {
  const names = Object.values(messages).map((message) => `${message.type} ${message.name}`);
  expect(names.sort()).toEqual([
    'query pendingApprovals',
    'query status',
    'query usage',
    'signal cancel',
    'signal compact',
    'update extendBudget',
    'update resolveApproval',
    'update send',
  ]);
});

test('error codes', () => {
  expect(Object.keys(ERROR_HINTS).sort()).toEqual([
    'BudgetExceeded',
    'CompactionFailed',
    'ConfigInvalid',
    'ContextUnfittable',
    'Fenced',
    'InboxFull',
    'Internal',
    'InvalidInput',
    'InvalidOutput',
    'MaxToolTurns',
    'MissingKey',
    'NoWorker',
    'NotFound',
    'ProviderFailed',
    'RunAbandoned',
    'RunClosing',
    'SessionBusy',
    'SessionLockMismatch',
    'StoreBehind',
    'StoreMismatch',
    'StoreTooNew',
    'StoreUnavailable',
    'TemporalUnavailable',
    'ToolLoop',
    'UnknownAgent',
    'UnknownModel',
  ]);
});

test('the events of which each message gets exactly one', () => {
  expect(TERMINAL_EVENT_TYPES).toEqual(['final_response', 'loop_aborted', 'run_failed']);
});

test.each([
  ['demo', true],
  ['a.B-c_9', true],
  ['x'.repeat(128), true],
  ['demo/sub/call_1', true],
  ['demo/sub/call_1/sub/call_2', true],
  ['', false],
  ['x'.repeat(129), false],
  ['a b', false],
  ['../etc', false],
  ['demo/other', false],
  ['demo\n', false],
])('session id %j: %s', (id, legal) => {
  expect(identity.isSessionId(id)).toBe(legal);
});
