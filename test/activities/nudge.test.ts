import { expect, test } from 'vitest';
import { type OutcomeContext, outcomeOf } from '../../src/activities/response-outcome.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import { looksLikeToolPromise } from '../../src/transcript/looks-like-tool-promise.ts';
import { workTool } from '../integration/scripts.ts';

const response = {
  text: "Let me look at the file. I'll check the logs now.",
  items: [],
  stopReason: { unified: 'stop', raw: 'stop' },
  usage: null,
  discardedCalls: [],
} as unknown as Parameters<typeof outcomeOf>[0];

function outcome(change: Partial<OutcomeContext>) {
  const agent = { tools: createToolRegistry([workTool]) } as unknown as OutcomeContext['agent'];
  const none = new Map();
  const context = { agent, config: {} as OutcomeContext['config'], input: {}, approvals: none, delegations: none };
  const promises = looksLikeToolPromise(response.text);
  return outcomeOf(response, { ...context, promises, acted: false, ...change });
}

test('a promise without a call is nudged once, and only while no tool with effects has run', () => {
  expect(outcome({})).toMatchObject({ outcome: 'final', again: 'promise' });
  expect(outcome({ input: { nudged: true } })).not.toHaveProperty('again');
  expect(outcome({ acted: true })).not.toHaveProperty('again');
  expect(outcome({ agent: undefined })).not.toHaveProperty('again');
});
