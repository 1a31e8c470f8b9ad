import { expect, test } from 'vitest';
import { createOfflineProvider } from '../../../src/providers/offline/adapter.ts';
import { OFFLINE_NOTICE } from '../../../src/providers/offline/answer.ts';
import type { Message, ToolSpec } from '../../../src/transcript/message.ts';
import { ask, type Files, TOOLS } from './workspace.ts';

const FILES: Files = {
  'README.md': '# Shop\n\nA small shop. It has a retry policy.\n',
  'CHANGELOG.md': '- retry policy: added\n- retry policy: mended\n',
  'src/http/client.ts': [
    "import { retryPolicy } from './retry-policy.ts';",
    '',
    'export async function send(url: string): Promise<Response> {',
    '  for (let attempt = 0; ; attempt++) {',
    '    const response = await fetch(url);',
    '    if (!retryPolicy(response, attempt)) return response;',
    '  }',
    '}',
  ].join('\n'),
  'src/http/retry-policy.ts': [
    '/** Whether a response is worth another try. */',
    'export function retryPolicy(response: Response, attempt: number): boolean {',
    '  return response.status >= 500 && attempt < 3;',
    '}',
  ].join('\n'),
  'test/retry-policy.test.ts': "test('the retry policy gives up after three', () => {});\n",
  'src/catalog.ts': 'export const catalog = [];\n',
  'src/付款.ts': '// 退款流程由 refund 处理\nexport function refund() {}\n',
};

test('a question about code is answered with quoted lines and where they stand', async () => {
  const { text } = await ask('Where is the retry policy decided?', FILES);
  expect(text.split('\n')[0]).toBe(OFFLINE_NOTICE);
  expect(text).toContain('Best match for retry, policy');
  expect(text).toContain('`src/http/retry-policy.ts:2`\n');
  expect(text).toContain('2  export function retryPolicy(response: Response, attempt: number): boolean {');
  expect(text.indexOf('src/http/retry-policy.ts')).toBeLessThan(text.indexOf('src/http/client.ts'));
});

test('it looks around in one batch, then reads several files in parallel', async () => {
  const { rounds } = await ask('Where is the retry policy decided?', FILES);
  expect(rounds.map((calls) => [...new Set(calls.map(({ name }) => name))])).toEqual([
    ['list_dir', 'search_text', 'find_files'],
    ['read_file'],
  ]);
  expect(rounds[1]?.length).toBeGreaterThan(1);
});

test.each([
  ['¿Dónde se decide la política de reintentos?', 'Spanish'],
  ['Où est décidée la politique de nouvelle tentative ?', 'French'],
  ['Wo wird die Richtlinie für Wiederholungen festgelegt?', 'German'],
  ['重试策略是在哪里决定的？', 'Chinese'],
  ['リトライのポリシーはどこで決まりますか？', 'Japanese'],
  ['재시도 정책은 어디에서 결정되나요?', 'Korean'],
  ['Где определяется политика повторов?', 'Russian'],
])('%s is understood (%s)', async (question) => {
  const { text } = await ask(question, FILES);
  expect(text).toMatch(/^Best match for .*`src\/http\/retry-policy\.ts:2`$/m);
});

test('words of another language are also searched for as they stand', async () => {
  const { text } = await ask('退款流程在哪里？', FILES);
  expect(text).toMatch(/^Best match for .*`src\/付款\.ts:\d`$/m);
});

test('a file that quotes the question is no answer to it', async () => {
  const quoting = { 'AGENTS.ts': '// npm start -- "Where is the retry policy decided?"\n' };
  const { text } = await ask('Where is the retry policy decided?', { ...quoting, ...FILES });
  expect(text).not.toContain('AGENTS.ts');
});

test('tests and documentation that say the words more often come after the code', async () => {
  const loud = 'export function retryPolicyTest() {} // retry policy, retry policy\n'.repeat(5);
  const { text } = await ask('Where is the retry policy decided?', {
    'test/loud.test.ts': loud,
    'docs/loud.md': loud,
    ...FILES,
  });
  expect(text).toMatch(/^Best match for .*`src\/http\/retry-policy\.ts:2`$/m);
});

test('an identifier is looked for whole', async () => {
  const { text } = await ask('What does retryPolicy return?', FILES);
  expect(text).toMatch(/^Best match for retryPolicy.*`src\/http\/retry-policy\.ts:2`$/m);
});

test('when nothing matches it says so, and what the folder holds', async () => {
  const { text } = await ask('Where is the hyperdrive?', FILES);
  expect(text).toContain('Nothing in this workspace matches “hyperdrive”.');
  expect(text).toContain('README.md');
});

test('an empty folder, no tools at all, and a message without words still get an answer', async () => {
  expect((await ask('Where is the retry policy?', {})).text).toContain('Nothing in this workspace matches');
  expect((await ask('Where is the retry policy?', FILES, [])).text).toContain('Nothing in this workspace matches');
  expect((await ask('???', FILES)).text).toContain('names nothing to search for');
});

test('a question full of regular expression syntax is only text', async () => {
  const { text } = await ask('Where is `a(b[c*{` or "x|y\\" and $^ ?', FILES);
  expect(text.split('\n')[0]).toBe(OFFLINE_NOTICE);
});

test('text comes in small pieces and joins without loss', async () => {
  const { deltas, text } = await ask('退款流程在哪里？ 😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀', FILES);
  expect(deltas.length).toBeGreaterThan(5);
  expect(Math.max(...deltas.map((delta) => delta.length))).toBeLessThanOrEqual(48);
  expect(deltas.some((delta) => /\p{Surrogate}/u.test(delta))).toBe(false);
  expect(text).toBe(deltas.join(''));
});

test('the same request gives the same events, and an abort ends the stream with its reason', async () => {
  expect(await ask('Where is the retry policy decided?', FILES)).toEqual(
    await ask('Where is the retry policy decided?', FILES),
  );
  const controller = new AbortController();
  const stream = createOfflineProvider().stream(
    { model: 'extractive', messages: [{ role: 'user', content: [{ type: 'text', text: 'retry' }] }], tools: [] },
    { signal: controller.signal },
  );
  const reason = new Error('enough');
  await expect(async () => {
    for await (const _ of stream) controller.abort(reason);
  }).rejects.toBe(reason);
});

test('what it says it read counts the tools', async () => {
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'Where?' }] }];
  const reported = async (tools: readonly ToolSpec[]) => {
    const request = { model: 'extractive', messages, tools };
    let tokens = 0;
    for await (const event of createOfflineProvider().stream(request, { signal: AbortSignal.timeout(30_000) })) {
      if (event.type === 'usage') tokens = event.usage.inputTokens ?? 0;
    }
    return tokens;
  };
  const long = TOOLS.map((tool) => ({ ...tool, description: 'd'.repeat(400) }));
  expect((await reported(long)) - (await reported([]))).toBeGreaterThan(400);
});
