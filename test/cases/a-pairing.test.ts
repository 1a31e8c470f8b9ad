import { expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { agentRun } from './runner/agent-run.ts';
import { recorded } from './runner/case-input.ts';
import { brokenLaws } from './runner/laws.ts';
import { parseTarget, targetOfApi } from './runner/target.ts';
import { toolRun } from './runner/tool.ts';
import { buildFor } from './runner/transcript-in.ts';
import { messagesOf, partsOf } from './runner/wire-reader.ts';

test('a-06: a call without a result at the tail is answered by a synthetic one', async () => {
  const { request, broken } = await buildFor('openai-chat', findCase('a-06-partial-group-at-tail').input);
  expect(broken).toEqual([]);
  expect(messagesOf(request).map((message) => message.label)).toEqual(['user', 'assistant', 'tool', 'tool']);
  const [first, second] = partsOf(request, 'result');
  expect(first).toMatchObject({ id: 'c1', text: 'one' });
  expect(second?.id).toBe('c2');
  expect(second?.text).toMatch(/No result of this call was recorded/);
});

test('a-19: of three calls the unreadable one is answered with an error, the others run, and every provider takes the turn', async () => {
  const { input } = findCase('a-19-batch-stopped-early');
  const target = targetOfApi('chat', 'any');
  const seen = await agentRun(input, target, [...recorded(input), final('done')]);
  expect(seen.broken).toEqual([]);
  expect(seen.results).toHaveLength(3);
  expect(seen.results?.map((result) => result.status)).toEqual(['error', 'ok', 'ok']);
  expect(seen.results?.[0]?.text).toMatch(/not run|were no/i);
  expect(seen.executed).toEqual([
    { name: 'read_file', args: { path: 'b' } },
    { name: 'finish', args: {} },
  ]);
  expect(seen.finalText).toBe('done');
});

test('a-20: a call that the stream broke off is never executed; the answer is asked for again', async () => {
  const { input } = findCase('a-20-abnormal-end-with-open-call');
  const seen = await agentRun(input, targetOfApi('chat', 'any'), recorded(input));
  expect(seen.executed).toEqual([]);
  expect(seen.requests).toHaveLength(2);
  expect(seen.finalText).toBe('Sorry, again.');
  expect(seen.broken).toEqual([]);
});

test('a-04: the call that was interrupted says so, the one that was not started says that, and neither claims a refusal', async () => {
  const { run } = await toolRun(findCase('a-04-interrupted-is-not-rejected').input);
  const [migrate, report] = run.items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
  const text = (result: typeof migrate) =>
    result?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
  expect(migrate?.status).toBe('cancelled');
  expect(text(migrate)).toMatch(/may|unknown/i);
  expect(report?.status).toBe('aborted');
  expect(text(report)).toMatch(/never started|not started/i);
  expect(`${text(migrate)} ${text(report)}`).not.toMatch(/reject|denied|refus/i);
});

test('a broken request is told from a legal one: the laws that these tests rest on do refuse', () => {
  const target = parseTarget('openai-chat');
  const body = { model: 'm', messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] };
  expect(brokenLaws(target, { api: 'openai-chat', body })).not.toEqual([]);
});

/** A streamed answer that ends the run. */
function final(text: string) {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-2', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = `${chunk({ content: text }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
  return { http: { status: 200, headers: { 'content-type': 'text/event-stream' }, body }, end: 'close' };
}
