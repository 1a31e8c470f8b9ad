import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';
import { NAMESPACES } from '../setup/temporal-server.ts';
import { type Running, Workspace } from './workspace.ts';

const QUESTION = 'Where is the retry policy decided?';
const ANSWER = /retry\.md:3/;

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

  test('--debug adds where the error comes from', async () => {
    const { err } = await workspace.run(['--debug', 'run', QUESTION], { TEMPORAL_ADDRESS: '127.0.0.1:9' });
    expect(err).toMatch(/ at .*\.(js|ts):\d+/);
  });
});

describe('wrong use', () => {
  test.each([
    [['run'], 2, /the prompt is empty/],
    [['run', ' '], 2, /the prompt is empty/],
    [['run', '--output', 'xml', 'x'], 2, /Allowed choices/],
    [['--folder', '/nowhere', 'sessions'], 2, /not a folder/],
    [['nonsense'], 2, /unknown command/],
    [['show', 'nothing'], 4, /no store/],
    [['cancel', 'nobody'], 3, /no Temporal server/],
    [['sessions', '--limit', '-3'], 2, /whole number/],
    [['compact', 'nobody'], 3, /no Temporal server/],
    [['compact'], 2, /missing required argument/],
    [['fork', 'nothing', '--at', '1'], 4, /no store/],
    [['fork', 'nothing'], 2, /--at/],
    [['fork', 'nothing', '--at', 'end'], 2, /whole number/],
    [['memory'], 2, /Usage: holdfast memory/],
    [['memory', 'nonsense'], 2, /unknown command/],
    [['memory', 'list', '--sesion', 'x'], 2, /unknown option/],
    [['memory', 'allow', 'abcdef'], 4, /no store/],
    [['memory', 'add', ' '], 2, /the memory is empty/],
    [['show', 'nothing', '--all', '--context'], 2, /--context and --all show different things/],
  ])('%j ends with %i', async (args, expected, said) => {
    const { code, err } = await workspace.run(args);
    expect(err).toMatch(said);
    expect(code).toBe(expected);
  });
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

  test('other commands use its server and its worker', async () => {
    const { code, out, err } = await shared.run(['run', '--session', 'one', QUESTION]);
    expect({ code, found: ANSWER.test(out) }).toEqual({ code: 0, found: true });
    expect(err).toContain('Temporal dev server of this folder');
    expect(shared.leftovers().filter((line) => line.includes('worker.js'))).toHaveLength(1);
  });

  test('--output json is one array that ends in done', async () => {
    const { out } = await shared.run(['run', '--session', 'json', '--output', 'json', QUESTION]);
    const events = JSON.parse(out);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed', text: expect.stringMatching(ANSWER) });
    const open = new Set<string>();
    for (const event of events) {
      if (event.type === 'tool_start') open.add(event.callId);
      if (event.type === 'tool_end') expect(open.delete(event.callId)).toBe(true);
    }
    expect(open).toEqual(new Set());
  });

  test('send --follow goes on in the session, and ndjson indexes have no gap', async () => {
    const { code, out } = await shared.run(['send', 'one', '--follow', '--output', 'ndjson', 'And the tests?']);
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    const indexes = events.filter(({ index }) => index !== null).map(({ index }) => index);
    expect(indexes).toEqual(indexes.map((_, n) => n));
    const { out: rest } = await shared.run(['events', 'one', '--from', '2', '--output', 'ndjson']);
    expect(
      rest
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).index),
    ).toEqual(indexes.slice(2));
  });

  test('sessions, show and doctor tell what there is', async () => {
    const { out: list } = await shared.run(['sessions', '--output', 'json']);
    expect(JSON.parse(list).map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(
      expect.arrayContaining(['one', 'json']),
    );
    const { out: session } = await shared.run(['show', 'one', '--output', 'json']);
    const { runs, entries } = JSON.parse(session);
    expect(runs).toHaveLength(2);
    expect(entries[0].item).toMatchObject({ kind: 'user_message', content: [{ type: 'text', text: QUESTION }] });
    const { code, out: findings } = await shared.run(['doctor', '--output', 'json']);
    expect(JSON.parse(findings).filter(({ verdict }: { verdict: string }) => verdict === 'wrong')).toEqual([]);
    expect(code).toBe(0);
  });

  test('cancelling an idle session is refused', async () => {
    const { code, err } = await shared.run(['cancel', 'one']);
    expect(err).toMatch(/has no open run/);
    expect(code).toBe(4);
  });

  test('Ctrl-C ends it in good order and leaves nothing running', async () => {
    dev.child.kill('SIGINT');
    expect((await dev.finished).code).toBe(0);
    expect(shared.leftovers()).toEqual([]);
  });
});

describe('on a server that is not ours', () => {
  function external(): Record<string, string> {
    const { address, claims } = inject('temporal');
    return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: claimed(claims) };
  }

  test('holdfast worker serves runs of other commands, and no server is started', async () => {
    const env = external();
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

  test('where nobody polls, run brings its own worker', async () => {
    const { code, out } = await workspace.run(['run', QUESTION], external());
    expect({ code, found: ANSWER.test(out) }).toEqual({ code: 0, found: true });
    expect(workspace.leftovers()).toEqual([]);
  });
});

/** A namespace of the shared server that no other test has: making a folder is the claim. */
function claimed(claims: string): string {
  for (const name of NAMESPACES) {
    try {
      mkdirSync(join(claims, name));
      return name;
    } catch {
      // Taken.
    }
  }
  throw new Error('more test files than namespaces: raise NAMESPACES');
}

describe('with a model that takes its time', () => {
  let provider: FakeProvider;
  let slow: Workspace;
  beforeEach(async () => {
    provider = await startFakeProvider(() => ({ text: Array(8000).fill('word '), chunkDelayMs: 50 }));
    slow = new Workspace({ HOLDFAST_MODEL: 'openai/m', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.baseURL });
  });
  afterEach(async () => {
    slow.dispose();
    await provider.close();
  });

  async function streaming(): Promise<Running> {
    const running = slow.start(['run', '--session', 's', '--output', 'ndjson', 'Talk.']);
    await running.printed('assistant_text_delta');
    return running;
  }

  test('Ctrl-C cancels the run, the far end sees it, and the next run of the session works', async () => {
    const running = await streaming();
    running.child.kill('SIGINT');
    const { code, out, err } = await running.finished;
    expect(err).toContain('Cancelling');
    expect(JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'loop_aborted' });
    expect(code).toBe(130);
    expect(provider.requests[0]?.abortedAt).toBeDefined();
    expect(slow.leftovers()).toEqual([]);
    provider.answer = () => ({ text: 'Short now.' });
    expect(await slow.run(['run', '--session', 's', 'Again.'])).toMatchObject({ code: 0, out: 'Short now.\n' });
  });

  test('the two signals that npm makes of one Ctrl-C count once', async () => {
    const running = await streaming();
    running.child.kill('SIGINT');
    running.child.kill('SIGINT');
    const { out } = await running.finished;
    expect(out).toContain('loop_aborted');
  });

  test('a busy session refuses another run and names the open one', async () => {
    const running = await streaming();
    const { code, err } = await slow.run(['run', '--session', 's', 'Me too.']);
    expect(err).toMatch(/session s is busy with run [0-9a-f-]{36}/);
    expect(code).toBe(4);
    expect((await slow.run(['cancel', 's', '--reason', 'enough'])).code).toBe(0);
    const { code: first, out } = await running.finished;
    expect(out).toContain('enough');
    expect(first).toBe(130);
  });

  test('a run that fails ends with 1 and says why', async () => {
    provider.answer = () => ({
      status: 401,
      body: { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } },
    });
    const { code, err, out } = await slow.run(['run', 'Talk.']);
    expect(err).toMatch(/Incorrect API key/);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });
});
