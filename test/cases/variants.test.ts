import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { agentRun } from './runner/agent-run.ts';
import { type Case, isObj, type Obj, str } from './runner/case-file.ts';
import { recorded } from './runner/case-input.ts';
import { runAnswerIn } from './runner/stream-in.ts';
import { targetOfApi } from './runner/target.ts';
import { buildFor } from './runner/transcript-in.ts';
import { messagesOf, partsOf } from './runner/wire-reader.ts';

/** The case with its recorded body changed, as its words describe. */
function withBody(one: Case, change: (body: string) => string): Case {
  const http = isObj(one.input.http) ? one.input.http : {};
  return { ...one, input: { ...one.input, http: { ...http, body: change(str(http.body)) } } };
}

test('a-03: resuming a second time sends the same request', async () => {
  const { input } = findCase('a-03-resume-after-process-kill');
  const first = await buildFor('openai-chat', input);
  const resumed: Obj = { ...input, transcript: [...(input.transcript as unknown[]), { process_killed: true }] };
  const second = await buildFor('openai-chat', resumed);
  expect(second.request.body.messages).toEqual(first.request.body.messages);
});

test('a-15: on Responses an id of 83 characters is mapped to at most 64, call and result alike, the same each time', async () => {
  const id = `fc_${'0123456789'.repeat(8)}`;
  const transcript = [{ user: 'x' }, { calls: [{ id, name: 'search', args: {} }] }, { results: [{ id, output: 'X' }] }];
  const [one, two] = [
    await buildFor('openai-responses', { transcript }),
    await buildFor('openai-responses', { transcript }),
  ];
  const [call] = partsOf(one.request, 'call');
  expect(call?.id.length).toBeLessThanOrEqual(64);
  expect(partsOf(one.request, 'result')[0]?.id).toBe(call?.id);
  expect(two.request).toEqual(one.request);
});

describe('d-11: an assistant message with calls and no text', () => {
  const { input } = findCase('d-11-null-content-variants');
  const content = async (flag: string | undefined) => {
    const dialect = flag === undefined ? {} : { dialect: { empty_content: flag } };
    const { request, broken } = await buildFor('openai-compatible', { ...input, ...dialect });
    expect(broken).toEqual([]);
    const message = messagesOf(request).find((each) => each.label === 'assistant')?.raw ?? {};
    return 'content' in message ? message.content : 'no key';
  };

  test.each([
    { flag: undefined, sent: null },
    { flag: 'empty', sent: '' },
    { flag: 'omit', sent: 'no key' },
  ])('has the content that the dialect asks for: $flag', async ({ flag, sent }) => {
    expect(await content(flag)).toEqual(sent);
  });
});

test('e-32: where a cut call comes under the finish reason of whole ones, it is an argument error, never run and never replayed raw', async () => {
  const one = withBody(findCase('e-32-length-truncated-call'), (body) =>
    body.replace('"finish_reason":"length"', '"finish_reason":"tool_calls"'),
  );
  const seen = await agentRun(
    { ...one.input, repeat_forever: true },
    targetOfApi('chat', one.provider),
    recorded(one.input),
  );
  expect(seen.executed).toEqual([]);
  expect(seen.results?.length).toBeGreaterThan(0);
  expect(seen.results?.every((result) => result.status === 'error')).toBe(true);
  expect(seen.ended).toBe(true);
  expect(seen.broken).toEqual([]);
});

test('f-24: a length stop with the window full of input is an overflow also when a few tokens came out', async () => {
  const one = withBody(findCase('f-24-length-with-zero-output'), (body) =>
    body
      .replace(/"prompt_tokens":\d+/, '"prompt_tokens":154485')
      .replace(/"completion_tokens":\d+/, '"completion_tokens":462')
      .replace('"content":""', '"content":"Some text"'),
  );
  const seen = await runAnswerIn(one);
  expect(seen.error).toMatchObject({ class: 'context_overflow', limit: 128_000, requested: 154_485 });
});
