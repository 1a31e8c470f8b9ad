import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ANSWER, externalServer, QUESTION, Workspace } from './workspace.ts';

// Each command boots several processes; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.dispose());

describe('a run in a fresh folder', () => {
  test('answers on stdout alone, tells the rest aside, and leaves nothing running', async () => {
    const { code, out, err } = await workspace.run(['run', QUESTION]);
    expect(err).toMatch(/Started a Temporal dev server: 127\.0\.0\.1:\d+/);
    expect(err).toMatch(/✓ search_text/);
    expect(err).toMatch(/Session \S+ · http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/session%2F/);
    expect(out).toMatch(ANSWER);
    expect(out).not.toMatch(/✓|Started/);
    expect(code).toBe(0);
    expect(workspace.leftovers()).toEqual([]);
    expect(workspace.has('.holdfast/dev.json')).toBe(false);
    expect(workspace.read('.holdfast/.gitignore')).toBe('*\n');
  });

  test('a model without its key is refused in one sentence before anything starts', async () => {
    const { code, out, err } = await workspace.run(['run', QUESTION], { HOLDFAST_MODEL: 'openai/gpt-5.1' });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^Error: .*OPENAI_API_KEY.*\n.+\n$/);
    expect(workspace.has('.holdfast')).toBe(false);
  });

  test('a server that does not answer is told with its address', async () => {
    const { code, err } = await workspace.run(['run', QUESTION], { TEMPORAL_ADDRESS: '127.0.0.1:9' });
    expect(code).toBe(3);
    expect(err).toMatch(/Error: no Temporal server answers at 127\.0\.0\.1:9/);
    expect(err).not.toMatch(/ at .*\.js:\d+/);
    expect(workspace.leftovers()).toEqual([]);
  });
});

test.each([
  [['run'], 2, /the prompt is empty/],
  [['run', '--output', 'xml', 'x'], 2, /Allowed choices/],
  [['show', 'nothing'], 4, /no store/],
  [['cancel', 'nobody'], 3, /no Temporal server/],
])('wrong use: %j ends with %i', async (args, expected, said) => {
  const { code, err } = await workspace.run(args);
  expect(err).toMatch(said);
  expect(code).toBe(expected);
});

test('on a server that is not ours, holdfast worker serves runs of other commands, and no server is started', async () => {
  const env = externalServer();
  const worker = workspace.start(['worker'], env);
  await worker.printed('Worker for');
  const { code, out, err } = await workspace.run(['run', QUESTION], env);
  expect({ code, found: ANSWER.test(out) }).toEqual({ code: 0, found: true });
  expect(err).toContain(`Temporal server of the environment: ${env.TEMPORAL_ADDRESS}`);
  expect(workspace.leftovers().filter((line) => line.includes('worker.js'))).toHaveLength(1);
  expect(workspace.has('.holdfast/temporal.db')).toBe(false);
  worker.child.kill('SIGTERM');
  expect((await worker.finished).code).toBe(0);
  expect(workspace.leftovers()).toEqual([]);
});
