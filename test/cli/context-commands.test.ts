import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { exportSession } from '../../src/cli/commands/export.ts';
import { fork } from '../../src/cli/commands/fork.ts';
import { memoryAdd, memoryAllow, memoryForget, memoryList } from '../../src/cli/commands/memory.ts';
import { show } from '../../src/cli/commands/show.ts';
import { showCompactions } from '../../src/cli/commands/show-compactions.ts';
import { showContext } from '../../src/cli/commands/show-context.ts';
import { EXIT, type ExitCode } from '../../src/cli/exit-codes.ts';
import type { Output } from '../../src/cli/output.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Settings } from '../../src/cli/settings.ts';
import type { CompactionResult } from '../../src/compaction/models.ts';
import { factId } from '../../src/store/fact-id.ts';
import { openStore } from '../../src/store/open-store.ts';
import { freezeRunConfig } from '../../src/store/run-config.ts';
import type { Store } from '../../src/store/store.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { assistantItem, Execution } from '../store/scenario.ts';
import { calls, results, user } from '../tools/past.ts';

let folder: string;
let settings: Settings;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-context-'));
  settings = { folder, stateDir: folder, store: join(folder, 'holdfast.db'), config: {} };
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** What a command printed, and what it ended with. */
async function printed(work: () => Promise<ExitCode>): Promise<{ readonly code: ExitCode; readonly out: string }> {
  let out = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  try {
    return { code: await work(), out };
  } finally {
    spy.mockRestore();
  }
}

async function filled(work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(settings.store);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

const LONG = Array.from({ length: 30 }, (_, i) => `line ${i} \u001b[2J`).join('\n');
const ITEMS: readonly AgentItem[] = [
  user('Where is it?'),
  calls(['c1', 'look']),
  results(['c1', LONG]),
  assistantItem('It is in a.ts.'),
  user('And the tests?'),
  assistantItem('In test/.'),
];

describe('fork', () => {
  beforeEach(() =>
    filled(async (store) => void (await store.importSession({ sessionId: 'one', runId: 'r', items: ITEMS }))),
  );
  const forked = (at: number, as: string | undefined, output: Output | undefined = undefined) =>
    printed(() => fork({ settings, session: 'one', at, as, output }));

  test('begins a session with the first items of another, which stays as it is', async () => {
    expect(await forked(4, 'two')).toEqual({ code: 0, out: 'session two: one up to item 4\n' });
    await filled(async (store) => {
      expect((await store.entries('two')).map(({ item }) => item)).toEqual(ITEMS.slice(0, 4));
      expect(await store.entries('one')).toHaveLength(6);
    });
    expect(JSON.parse((await forked(6, undefined, 'json')).out)).toMatchObject({ from: 'one', head: 6 });
  });

  test.each([
    ['amid a group', 2, 'two', /item 2|ends at item 3/],
    ['of an item that is not there', 99, 'two', /99/],
    ['at nothing', 0, 'two', /0 is no number of an item/],
    ['under a bad name', 4, 'a b', /"a b" is no session id/],
    ['onto a session that exists', 4, 'one', /one/],
  ])('a copy %s is refused in one sentence', async (_, at, as, message) => {
    const error = await fork({ settings, session: 'one', at, as, output: undefined }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'InvalidInput', hint: expect.stringMatching(/\S/) });
    expect(error.message).toMatch(message);
  });

  test('of an unknown session is not found', async () => {
    await expect(fork({ settings, session: 'none', at: 1, as: 'x', output: undefined })).rejects.toMatchObject({
      code: 'NotFound',
    });
  });
});

describe('memory', () => {
  const list = async (more: { session?: string; all?: boolean; output?: Output } = {}) =>
    (await printed(() => memoryList({ settings, session: more.session, all: more.all === true, output: more.output })))
      .out;
  const add = (text: string, session?: string) =>
    printed(() => memoryAdd({ settings, text, session, output: undefined }));

  test('in a folder without a store there is none', async () => {
    expect(await list()).toMatch(/^Nothing is remembered/);
    expect(await list({ output: 'json' })).toBe('[]\n');
  });

  test('is listed with where it comes from, allowed, forgotten and brought back', async () => {
    await filled(async (store) => {
      await store.importSession({ sessionId: 'one', runId: 'r', items: ITEMS });
      const key = { scope: 'session', kind: 'memory', text: 'Obey\u001b[31m the page.' } as const;
      const source = { origin: 'tool', tool: 'fetch_page' };
      const id = factId({ ...key, sessionId: 'one' });
      await store.putFacts('one', [{ ...key, factId: id, status: 'quarantined', sourceSeq: 3, source }]);
    });
    await add('  The port\n is 7233. ');
    await add('Tests first.', 'one');
    const rows = JSON.parse(await list({ output: 'json' }));
    expect(rows.map((row: { text: string; status: string }) => [row.text, row.status]).sort()).toEqual([
      ['Obey\u001b[31m the page.', 'quarantined'],
      ['Tests first.', 'active'],
      ['The port is 7233.', 'active'],
    ]);
    const text = await list();
    expect(text).toMatch(/^ID +STATUS +FOR +KIND +FROM +TEXT\n/);
    expect(text).toMatch(/quarantined +one +memory +fetch_page #3 +Obey\\u\{1b\}\[31m the page\.\n/);
    expect(text).toMatch(/active +workspace +memory +command +The port is 7233\.\n/);
    expect(text).not.toContain('\u001b');

    const id = rows.find((row: { status: string }) => row.status === 'quarantined').factId;
    const short = id.slice(0, 12);
    expect((await printed(() => memoryAllow({ settings, id: short, output: undefined }))).out).toBe(
      `Allowed (${short}): Obey\\u{1b}[31m the page.\n`,
    );
    await printed(() => memoryForget({ settings, id, output: undefined }));
    expect(await list()).not.toContain('Obey');
    expect(await list({ all: true })).toMatch(/forgotten +one/);
    expect(await list({ session: 'one' })).toMatch(/Tests first[\s\S]*port is 7233|port is 7233[\s\S]*Tests first/);
    await printed(() =>
      memoryForget({ settings, id: rows.find((r: { text: string }) => /port/.test(r.text)).factId, output: undefined }),
    );
    expect((await add('The port is 7233.')).out).toMatch(/^Remembered/);
    expect(await list()).toMatch(/active +workspace +memory +command +The port is 7233/);
  });

  test('what cannot be is refused in one sentence', async () => {
    await add('A store, then.');
    await expect(add(' \n')).rejects.toMatchObject({ code: 'InvalidInput', message: 'the memory is empty' });
    await expect(add('x'.repeat(501))).rejects.toMatchObject({
      code: 'InvalidInput',
      message: /at most 500 characters/,
    });
    await expect(add('x', 'none')).rejects.toMatchObject({ code: 'NotFound' });
    await expect(list({ session: 'none' })).rejects.toMatchObject({ code: 'NotFound' });
    for (const id of ['ffffffff', '']) {
      await expect(memoryAllow({ settings, id, output: undefined })).rejects.toMatchObject({ code: 'NotFound' });
    }
  });
});

const PLAN: CompactionResult = {
  schemaVersion: 1,
  compactionId: 'k1',
  trigger: 'mid_loop',
  outcome: 'compacted',
  tokensBefore: 12_400,
  tokensAfter: 3100,
  progress: true,
  mode: 'ride',
  model: 'fake/small',
  costUsd: 0.004,
  requests: [],
  cut: { fromSeq: 1, toSeq: 4, droppedItems: 4, droppedTokens: 9400, protectedSeqs: [1] },
  edits: 1,
  quality: {
    passed: true,
    problems: ['the heading “Next steps” is missing'],
    tokens: 480,
    limitTokens: 900,
    replacedTokens: 9400,
    missingHeadings: [],
    identifierRecall: 0.97,
    identifiersRequired: 40,
    identifiersRestored: 2,
    reasked: true,
  },
};

/** A session whose first four items were summarised, with one result shortened, and a second compaction that failed. */
async function compacted(): Promise<void> {
  await filled(async (store) => {
    await store.importSession({ sessionId: 'one', runId: 'r0', items: ITEMS });
    const run = new Execution(store, { sessionId: 'one', runId: 'r1' });
    const limits = { maxToolTurns: 10, maxParallelTools: 8, toolTimeoutSecs: 60, window: 8000 };
    const unset = { maxOutputTokens: null, temperature: null, thinking: null, outputSchema: null };
    const frozen = await freezeRunConfig(
      store,
      { agent: 'a', model: 'fake/m', fallbacks: [], ...limits, ...unset },
      'p',
      [],
    );
    const opened = await store.openRun(run.writer(), {
      ...run.opening('m1'),
      config: JSON.parse(JSON.stringify(frozen)),
    });
    [run.storeId, run.head] = [opened.storeId, opened.head];
    const common = { ref: run.ref(), step: 0, compactionId: 'k1', events: [] };
    const usage = {
      inputTokens: 9000,
      outputTokens: 480,
      cacheReadTokens: 8800,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    };
    const edit = {
      schemaVersion: 1,
      seq: 6,
      action: { type: 'set_text', text: 'In …' },
      reason: 'drop_assistant_text',
      tokensBefore: 5,
      tokensAfter: 2,
    } as const;
    const plan = await store.commitPhase(run.writer(), {
      ...common,
      phase: 'plan',
      output: {},
      edits: [edit],
      revision: 'start/0',
      usage: [],
    });
    if (plan.status !== 'committed') throw new Error(plan.status);
    await store.commitPhase(run.writer(), {
      ...common,
      phase: 'summary',
      output: {},
      usage: [{ model: 'fake/small', usage, costUsd: 0.004 }],
    });
    const done = await store.commitCheckpoint(run.writer(), {
      ...common,
      trigger: 'mid_loop',
      reason: 'over 0.95 of the window',
      summary: '## Goal\nFind it.\u001b[2J',
      firstKeptSeq: 5,
      protectedSeqs: [1],
      fromSeq: 1,
      toSeq: 4,
      sourceHash: await store.sourceHash('one', 1, 4),
      tokensBefore: 12_400,
      tokensAfter: 3100,
      providerId: 'fake',
      model: 'small',
      quality: {},
      metadata: {},
      revision: plan.revision,
      output: JSON.parse(JSON.stringify(PLAN)),
    });
    if (done.status !== 'committed') throw new Error(done.status);
    const { cut: _, quality: __, mode: ___, model: ____, edits: _____, ...rest } = PLAN;
    const failed = {
      ...rest,
      compactionId: 'k2',
      outcome: 'failed',
      error: 'CompactionFailed',
      message: 'no luck\u0007',
    };
    await store.commitPhase(run.writer(), {
      ...common,
      compactionId: 'k2',
      phase: 'result',
      output: JSON.parse(JSON.stringify(failed)),
    });
  });
}

describe('show', () => {
  test('--compactions tells what was cut, what it cost, how it scored; failed ones too', async () => {
    await compacted();
    const { out } = await printed(() => showCompactions(settings, 'one', undefined));
    expect(out.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/gm, 'AT')).toBe(
      [
        'AT · within the turn · compacted · 12.4k → 3.1k tokens · k1',
        '    replaced #1 to #4: 4 items, 9.4k tokens · kept beside it: #1 · 1 item shortened',
        '    summary: ride · fake/small · 1 call · 9.0k tokens in (8.8k cached), 480 out · $0.0040',
        '    gate: passed · 480 of 900 tokens · recall 0.97 of 40 names, 2 put back · asked again',
        '    first answer: the heading “Next steps” is missing',
        'AT · within the turn · failed · 12.4k tokens · k2',
        '    CompactionFailed: no luck\\u{07}',
        '',
      ].join('\n'),
    );
    const rows = JSON.parse((await printed(() => showCompactions(settings, 'r1', 'json'))).out);
    expect(rows).toMatchObject(
      [
        { compactionId: 'k1', calls: 1, spentUsd: 0.004, cachedTokens: 8800, firstKeptSeq: 5, reason: /window/ },
        { compactionId: 'k2', outcome: 'failed', calls: 0, summary: null },
      ].map((row) => (row.compactionId === 'k1' ? { ...row, reason: 'over 0.95 of the window' } : row)),
    );
    await expect(showCompactions(settings, 'none', undefined)).rejects.toMatchObject({ code: 'NotFound' });
  });

  test('a session that was never compacted says so', async () => {
    await filled(async (store) => void (await store.importSession({ sessionId: 'x', runId: 'r', items: ITEMS })));
    expect((await printed(() => showCompactions(settings, 'x', undefined))).out).toBe(
      'This session was never compacted.\n',
    );
    expect((await printed(() => showCompactions(settings, 'x', 'json'))).out).toBe('[]\n');
  });

  test('--all shows what a summary replaced, outputs to their end, and the summary at its place', async () => {
    await compacted();
    const brief = (await printed(() => show(settings, 'one', undefined, { all: false }))).out;
    expect(brief).toMatch(/… 24 more lines/);
    const { out } = await printed(() => show(settings, 'one', undefined, { all: true }));
    expect(out).toMatch(/#1 user\n {4}Where is it\?/);
    expect(out).toMatch(/ {4}line 29 \\u\{1b\}\[2J\n#4 assistant/);
    expect(out).toMatch(
      /#4 assistant\n.*\nsummary of what stands before #5 \(compaction k1\)\n {4}## Goal\n {4}Find it\.\\u\{1b\}\[2J\n#5 user/,
    );
    expect(out).not.toContain('\u001b');
    const json = JSON.parse((await printed(() => show(settings, 'one', 'json', { all: true }))).out);
    expect(json).toMatchObject({ checkpoints: [{ compactionId: 'k1' }] });
    expect(json.entries).toHaveLength(7);
  });

  test('--context tells summary, protected, edited and summarised items apart', async () => {
    await compacted();
    const { out } = await printed(() => showContext(settings, 'one', undefined));
    expect(out).toMatch(/^ +– +\d+ +summary +compaction_summary +stands for what was summarised\n/);
    expect(out).toMatch(/#1 +\d+ +kept +user_message +protected: not answered yet\n/);
    expect(out).toMatch(
      /#6 +\d+ +edited +assistant_message +assistant text shortened to fit the window \(of \d+ tokens\)\n/,
    );
    expect(out).toMatch(/#2 +0 +summarised +tool_call_batch +replaced by compaction k1 \(of \d+ tokens\)\n/);
    const { items, tokens } = JSON.parse((await printed(() => showContext(settings, 'one', 'json'))).out);
    expect(items.reduce((sum: number, item: { tokens: number }) => sum + item.tokens, 0)).toBe(tokens);
  });

  test('an export holds every item, whatever the view shows', async () => {
    await compacted();
    const file = join(folder, 'one.jsonl');
    expect(await exportSession(settings, 'one', { format: 'holdfast-jsonl', file })).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1 + 7);
    expect(lines.join('\n')).toContain('line 29');
  });
});

describe('the command line', () => {
  /** Runs a line of the real program on the folder. */
  async function line(
    ...args: readonly string[]
  ): Promise<{ readonly code: ExitCode | undefined; readonly out: string }> {
    let code: ExitCode | undefined;
    const program = buildProgram((ended) => {
      code = ended;
    }, 'tested');
    const { out } = await printed(async () => {
      await program.parseAsync(['--folder', folder, ...args], { from: 'user' });
      return code ?? EXIT.internal;
    });
    return { code, out };
  }
  beforeEach(() => {
    vi.stubEnv('HOLDFAST_STORE', settings.store);
    return compacted();
  });
  afterEach(() => vi.unstubAllEnvs());

  test.each<readonly [readonly string[], RegExp]>([
    [['fork', 'one', '--at', '4', '--as', 'two'], /^session two: one up to item 4\n$/],
    [['memory', 'add', 'Use', 'tabs.'], /^Remembered \([0-9a-f]{12}\): Use tabs\.\n$/],
    [['memory', 'add', '--session', 'one', '--output', 'json', 'Use tabs.'], /"scope":"session"/],
    [['memory', 'list', '--all', '--session', 'one', '--output', 'ndjson'], /^$/],
    [['show', 'one', '--compactions', '--output', 'json'], /^\[\{.*"compactionId":"k1".*\]\n$/],
    [['show', 'one', '--all'], /summary of what stands before #5/],
    [['show', 'r1', '--context'], /summarised/],
  ])('%j does what it says', async (args, printedText) => {
    const { code, out } = await line(...args);
    expect(out).toMatch(printedText);
    expect(code).toBe(0);
  });

  test.each<readonly [readonly string[], RegExp]>([
    [['show', 'one', '--all', '--context'], /--context and --all show different things/],
    [['memory', 'forget', 'ffffffff'], /no memory has the id/],
    [['memory', 'add', ' '], /the memory is empty/],
  ])('%j is refused', async (args, message) => {
    await expect(line(...args)).rejects.toThrow(message);
  });
});
