import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ANSWER, externalServer, jsonLines, QUESTION, type Running, Workspace } from '../cli/workspace.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.dispose());

test.each([
  [['run', ' '], 2, /the prompt is empty/],
  [['--folder', '/nowhere', 'sessions'], 2, /not a folder/],
  [['nonsense'], 2, /unknown command/],
  [['sessions', '--limit', '-3'], 2, /whole number/],
])('wrong use: %j ends with %i', async (args, expected, said) => {
  const { code, err } = await workspace.run(args);
  expect(err).toMatch(said);
  expect(code).toBe(expected);
});

test('--debug adds where an error comes from', async () => {
  const { err } = await workspace.run(['--debug', 'run', QUESTION], { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  expect(err).toMatch(/ at .*\.(js|ts):\d+/);
});

test('on a server that is not ours and where nobody polls, run brings its own worker', async () => {
  const { code, out } = await workspace.run(['run', QUESTION], externalServer());
  expect({ code, found: ANSWER.test(out) }).toEqual({ code: 0, found: true });
  expect(workspace.leftovers()).toEqual([]);
});

describe('beside holdfast dev', () => {
  let shared: Workspace;
  let dev: Running;
  beforeAll(async () => {
    shared = new Workspace();
    dev = shared.start(['dev']);
    await dev.printed('Ctrl-C stops both');
  });
  afterAll(() => shared.dispose());

  test('a run says that it uses the server of the folder', async () => {
    const { code, out, err } = await shared.run(['run', '--session', 'one', QUESTION]);
    expect({ code, found: ANSWER.test(out) }).toEqual({ code: 0, found: true });
    expect(err).toContain('Temporal dev server of this folder');
    expect(shared.leftovers().filter((line) => line.includes('worker.js'))).toHaveLength(1);
  });

  test('events --from begins in the middle', async () => {
    const { out } = await shared.run(['send', 'one', '--follow', '--output', 'ndjson', 'And the tests?']);
    const indexes = jsonLines(out).flatMap(({ index }) => (index === null ? [] : [index]));
    const { out: rest } = await shared.run(['events', 'one', '--from', '2', '--output', 'ndjson']);
    expect(jsonLines(rest).map(({ index }) => index)).toEqual(indexes.slice(2));
  });

  test('sessions lists each one', async () => {
    await shared.run(['run', '--session', 'two', QUESTION]);
    const { out } = await shared.run(['sessions', '--output', 'json']);
    const sessions: { sessionId: string }[] = JSON.parse(out);
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(['one', 'two']);
  });

  test('cancelling an idle session is refused', async () => {
    const { code, err } = await shared.run(['cancel', 'one']);
    expect(err).toMatch(/has no open run/);
    expect(code).toBe(4);
  });
});
