import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { check as checkAnthropic } from './anthropic.ts';
import { DIALECT_LAWS } from './dialects.ts';
import { naiveAnthropic, naiveChat, naiveResponses } from './naive.ts';
import { check as checkChat } from './openai-chat.ts';
import { check as checkResponses } from './openai-responses.ts';

interface CaseFile {
  readonly id: string;
  readonly input: { readonly transcript: readonly unknown[] };
}

const LINES = readFileSync(new URL('../cases/cases.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const CASES = new Map(
  LINES.map((line): [string, CaseFile] => {
    const parsed: CaseFile = JSON.parse(line);
    return [parsed.id, parsed];
  }),
);

const chat = (dialect: string) => (transcript: readonly unknown[]) =>
  checkChat(naiveChat(transcript), DIALECT_LAWS[dialect]);
const anthropic = (transcript: readonly unknown[]) => checkAnthropic(naiveAnthropic(transcript));
const responses = (transcript: readonly unknown[]) => checkResponses(naiveResponses(transcript));

/** Requests that real servers refused, written down as a naive client sends them, and the rule that each breaks. */
const BROKEN = [
  {
    id: 'a-01-interrupt-partial-batch-chat',
    send: chat('openai'),
    rule: 'call call_b is not answered before this message',
  },
  { id: 'a-02-interrupt-partial-batch-anthropic', send: anthropic, rule: 'toolu_2 has no tool_result' },
  { id: 'a-03-resume-after-process-kill', send: chat('openai'), rule: 'wait_job:79 is not answered' },
  { id: 'a-05-orphan-results-at-head', send: chat('openai'), rule: 'no call call_old1 precedes' },
  { id: 'a-06-partial-group-at-tail', send: chat('openai'), rule: 'call c2 is not answered' },
  { id: 'a-07-steering-between-call-and-result', send: anthropic, rule: 'has no tool_result immediately after' },
  { id: 'a-09-two-results-one-id', send: anthropic, rule: 'no tool_use toolu_w in the previous message' },
  { id: 'a-10-same-id-every-turn', send: anthropic, rule: 'must be unique' },
  { id: 'a-15-id-over-40-chars', send: chat('openai'), rule: '{1,40}' },
  { id: 'a-17-mistral-nine-chars', send: chat('mistral'), rule: '{9}' },
  { id: 'b-01-results-in-one-user-message', send: anthropic, rule: 'roles must alternate' },
  { id: 'b-02-results-before-text-and-images', send: anthropic, rule: 'has no tool_result' },
  { id: 'b-03-empty-assistant-text-block', send: anthropic, rule: 'non-whitespace' },
  { id: 'b-04-empty-tool-output', send: anthropic, rule: 'non-whitespace' },
  { id: 'b-05-trailing-whitespace-final-assistant', send: anthropic, rule: 'trailing whitespace' },
  { id: 'b-08-emptied-thinking-with-signature', send: anthropic, rule: 'must contain thinking' },
  { id: 'b-09-foreign-reasoning-to-anthropic', send: anthropic, rule: 'signature is required' },
  { id: 'b-19-first-message-assistant', send: anthropic, rule: 'first message must use the user role' },
  { id: 'b-20-consecutive-roles', send: chat('strict'), rule: 'two user messages in a row' },
  { id: 'b-22-cache-control-limit', send: anthropic, rule: 'at most 4 blocks' },
  { id: 'b-23-system-only', send: anthropic, rule: 'at least 1 entries' },
  { id: 'b-25-non-object-tool-input', send: anthropic, rule: 'input: must be an object' },
  { id: 'c-02-reasoning-without-follower', send: responses, rule: 'without its required following item' },
  { id: 'c-03-store-false-id-reference', send: responses, rule: 'encrypted_content' },
  { id: 'c-05-orphan-function-call-output', send: responses, rule: 'no tool call found' },
  { id: 'c-07-item-id-prefix', send: responses, rule: 'does not match' },
  { id: 'c-17-custom-tool-call-pairing', send: responses, rule: 'no tool output' },
  {
    id: 'd-03-reasoning-must-not-go-back-old-reasoner',
    send: chat('deepseek-r1'),
    rule: 'reasoning_content is not permitted',
  },
  { id: 'd-11-null-content-variants', send: chat('openai'), rule: 'is empty' },
  { id: 'h-17-hallucinated-dotted-name-in-history', send: chat('openai'), rule: 'multi_tool_use.parallel' },
  { id: 'h-20-tool-history-without-tools', send: withoutTools, rule: 'must be declared' },
] as const;

function withoutTools(transcript: readonly unknown[]): string[] {
  return checkChat({ ...naiveChat(transcript), tools: undefined }, DIALECT_LAWS.bedrock);
}

test.each(BROKEN)('$id, written down naively, is refused', ({ id, send, rule }) => {
  const found = CASES.get(id);
  if (found === undefined) throw new Error(`no case ${id}`);
  const broken = send(found.input.transcript);
  expect(broken.join('\n')).toContain(rule);
});

test('a tool turn of DeepSeek is refused once its reasoning is missing, and accepted with it', () => {
  const transcript = CASES.get('d-01-reasoning-must-go-back-with-tools')?.input.transcript ?? [];
  const body = naiveChat(transcript);
  const messages = body.messages as Record<string, unknown>[];
  expect(checkChat(body, DIALECT_LAWS['deepseek-thinking'])).toEqual([]);
  const without = messages.map(({ reasoning_content: _, ...rest }) => rest);
  expect(checkChat({ ...body, messages: without }, DIALECT_LAWS['deepseek-thinking'])).toHaveLength(3);
  expect(checkChat(body)).not.toEqual([]);
});
