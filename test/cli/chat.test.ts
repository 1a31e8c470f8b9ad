import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';
import { lastUserText, turnOf } from '../integration/scripts.ts';
import { externalServer, Workspace } from './workspace.ts';

// The command boots several processes; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let provider: FakeProvider;
let workspace: Workspace;
beforeEach(async () => {
  provider = await startFakeProvider((request) => {
    const text = lastUserText(request);
    if (text.startsWith('write') && turnOf(request) === 0) {
      return { calls: [{ name: 'write_file', args: { path: 'new.txt', content: 'hello\n' } }] };
    }
    return { text: `done: ${text} by ${request.body.model}` };
  });
  workspace = new Workspace({ HOLDFAST_MODEL: 'fake/one', ...externalServer() });
  const providers = { fake: { api: 'openai-chat', dialect: 'generic', baseURL: provider.baseURL } };
  const config = { agents: [{ name: 'default', tools: ['write_file'] }], providers };
  writeFileSync(join(workspace.folder, 'holdfast.config.ts'), `export default ${JSON.stringify(config)};`);
});
afterEach(async () => {
  workspace.dispose();
  await provider.close();
});

test('lines from a pipe are answered in turn, commands too, calls that wait by the next line', async () => {
  const chat = workspace.start(['chat'], {}, [
    'first',
    '/model fake/two',
    'second',
    'write',
    '/deny not today',
    'write again',
    '/approve',
    '/cost',
    '/nonsense',
    '//last',
  ]);
  const { code, out, err } = await chat.finished;
  expect(out.trimEnd().split('\n')).toEqual([
    'done: first by one',
    'done: second by two',
    'done: write by two',
    'done: write again by two',
    'done: /last by two',
  ]);
  expect(err).toMatch(
    /\? write_file new\.txt[\s\S]*"content": "hello\\n"[\s\S]*\/approve \[session\]\n {2}\/deny \[why\]/,
  );
  expect(err).toMatch(/denied by \S+: not today/);
  expect(err).toMatch(/There is no command \/nonsense/);
  expect(workspace.read('new.txt')).toBe('hello\n');
  expect(code).toBe(0);
  expect(workspace.leftovers()).toEqual([]);
});
