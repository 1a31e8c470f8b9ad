import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';
import { claimNamespace } from '../setup/claim-namespace.ts';
import { type Running, Workspace } from './workspace.ts';

// Each command boots several processes; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

// One transparent pixel.
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let provider: FakeProvider;
let workspace: Workspace;
let worker: Running;

beforeAll(async () => {
  provider = await startFakeProvider(() => ({ text: 'Done.' }));
  const { address, claims } = inject('temporal');
  workspace = new Workspace({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: claimNamespace(claims), FAKE_KEY: 'k' });
  const config = {
    providers: { fake: { api: 'openai-chat', baseURL: provider.baseURL, apiKeyEnv: 'FAKE_KEY' } },
    models: { 'fake/blind': { window: 20_000, abilities: { images: false } } },
    agents: [{ name: 'default', fallbacks: ['fake/seeing'], tools: ['list_dir'] }],
  };
  writeFileSync(join(workspace.folder, 'holdfast.config.ts'), `export default ${JSON.stringify(config)};`);
  writeFileSync(join(workspace.folder, 'pixel.png'), Buffer.from(PNG, 'base64'));
  worker = workspace.start(['worker']);
  await worker.printed('Worker for');
});
afterAll(async () => {
  worker?.child.kill('SIGTERM');
  await worker?.finished;
  workspace?.dispose();
  await provider?.close();
});
beforeEach(() => {
  provider.requests.length = 0;
  provider.read.length = 0;
});

/** Runs once, and gives the id of the run. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await workspace.run(['run', '--output', 'ndjson', ...args, '--', 'Look around.']);
  expect({ code, err }).toMatchObject({ code: 0 });
  return JSON.parse(out.split('\n')[0] ?? '').runId;
}

async function shown(runId: string, step: number): Promise<string> {
  const { code, out, err } = await workspace.run(['show', runId, '--request', `${step}`]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

test('a request is shown as the server got it, with what the config says of its model, and after a fallback', async () => {
  provider.answer = ({ body }, index) => {
    if (index === 0) return { text: 'I look.', calls: [{ name: 'list_dir', args: { path: '.' } }] };
    return body.model === 'blind'
      ? { status: 401, body: { error: { message: 'key revoked', code: 'invalid_api_key' } } }
      : { text: 'Done.' };
  };
  const runId = await run('--model', 'fake/blind', '--attach', 'pixel.png');
  const [first, refused, second] = provider.requests;
  expect(provider.requests.map(({ body }) => body.model)).toEqual(['blind', 'blind', 'seeing']);
  // The config's words reached the wire: a quarter of the window for the answer, a note for the image.
  expect(first?.body.max_tokens ?? first?.body.max_completion_tokens).toBe(5000);
  expect([first, refused, second].map((request) => request?.raw.includes(PNG))).toEqual([false, false, true]);

  expect(await shown(runId, 0)).toBe(`${first?.raw}\n`);
  expect(await shown(runId, 1)).toBe(`${second?.raw}\n`);
  expect(provider.read).toEqual([]);
});

test('the window of a model that nobody knows is asked of its server, once', async () => {
  provider.answer = () => ({ text: 'Done.' });
  provider.models = [{ id: 'unheard-of', max_model_len: 12_000 }];
  const runs = [await run('--model', 'fake/unheard-of'), await run('--model', 'fake/unheard-of')];
  const limits = provider.requests.map(({ body }) => body.max_tokens ?? body.max_completion_tokens);
  expect(limits).toEqual([3000, 3000]);
  expect(provider.read).toEqual(['/v1/models']);
  expect(await shown(runs[1] ?? '', 0)).toBe(`${provider.requests[1]?.raw}\n`);
});

test('a step that no run made is refused in one sentence', async () => {
  const { code, out, err } = await workspace.run(['show', 'no-such-run', '--request', '0']);
  expect({ code, out }).toEqual({ code: 4, out: '' });
  expect(err).toMatch(/no-such-run has no committed model call at step 0/);
});
