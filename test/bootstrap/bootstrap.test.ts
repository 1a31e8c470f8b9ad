import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Checkout } from './checkout.ts';

let checkout: Checkout;

beforeEach(() => {
  checkout = new Checkout();
});
afterEach(() => checkout.dispose());

const ALL = ['install', 'compile', 'bundle'];

test('a fresh clone is installed, compiled and bundled, and the CLI gets the question', async () => {
  const { code, out } = await checkout.start({ args: ['Where is it?'], input: 'stdin' });
  expect(checkout.done()).toEqual(ALL);
  expect(JSON.parse(out)).toEqual({ args: ['run', 'Where is it?'], cwd: checkout.root, input: 'stdin' });
  expect(code).toBe(7);
});

test('stdout holds nothing but what the CLI prints', async () => {
  const { out } = await checkout.start();
  expect(out.trim().split('\n')).toHaveLength(1);
});

describe('a later start redoes only what is stale', () => {
  beforeEach(async () => {
    await checkout.start();
    checkout.done();
  });

  const CHANGES: readonly [string, readonly string[], () => void][] = [
    ['nothing', [], () => {}],
    ['a source', ['compile'], () => checkout.write('src/cli/main.ts', 'changed')],
    ['a new source', ['compile'], () => checkout.write('src/cli/new.ts', '')],
    ['a removed source', ['compile'], () => checkout.remove('worker.ts')],
    ['a workflow', ['compile', 'bundle'], () => checkout.write('src/workflows/index.ts', 'changed')],
    ['the lock file', ALL, () => checkout.lock('1.0.1')],
    ['the bundle gone', ['bundle'], () => checkout.remove('dist/workflow-bundle.js')],
    ['a file that is no source', [], () => checkout.write('src/cli/notes.txt', '')],
  ];
  test.each(CHANGES)('%s: %j', async (_what, expected, change) => {
    change();
    const { code } = await checkout.start();
    expect(checkout.done()).toEqual(expected);
    expect(code).toBe(7);
  });

  test('another Node installs again: native packages are built for one', async () => {
    checkout.write('node_modules/.holdfast-lock', 'the same lock file, abi 1');
    await checkout.start();
    expect(checkout.done()).toEqual(['install']);
  });
});

describe('packages that somebody installed by hand', () => {
  test('count when they are those of the lock file', async () => {
    checkout.installByHand('1.0.0');
    await checkout.start();
    expect(checkout.done()).toEqual(['compile', 'bundle']);
  });

  test('count when the lock file only lost others', async () => {
    await checkout.start();
    checkout.done();
    checkout.installByHand('1.0.0');
    checkout.write(
      'package-lock.json',
      `${JSON.stringify({ packages: { 'node_modules/typescript': { version: '1.0.0' } } })} `,
    );
    await checkout.start();
    expect(checkout.done()).not.toContain('install');
  });

  test('are replaced when they are others', async () => {
    checkout.installByHand('0.9.0');
    await checkout.start();
    expect(checkout.done()).toEqual(ALL);
  });
});

describe('what goes wrong', () => {
  test('a source that does not compile ends with one sentence, and the next start tries again', async () => {
    const { code, err, out } = await checkout.start({ env: { TSC_FAILS: '1' } });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('The sources do not compile; see above.');
    checkout.done();
    await checkout.start();
    expect(checkout.done()).toEqual(['compile', 'bundle']);
  });

  test('packages that cannot be installed end with one sentence', async () => {
    const { code, err } = await checkout.start({ env: { PACKAGES: join(checkout.root, 'nowhere') } });
    expect(code).toBe(1);
    expect(err).toContain('The packages could not be installed');
  });

  test('a Node that is too old is told which one is needed, before anything is done', async () => {
    checkout.write('package.json', '{"type":"module","engines":{"node":">=99.1"}}');
    const { code, err } = await checkout.start();
    expect(err.trim()).toBe(
      `holdfast needs Node 99.1 or later; this is ${process.version}. Get a newer one from https://nodejs.org.`,
    );
    expect(code).toBe(3);
    expect(checkout.done()).toEqual([]);
  });
});

test('two terminals on a fresh clone install once', async () => {
  const both = await Promise.all([checkout.start(), checkout.start()]);
  expect(checkout.done()).toEqual(ALL);
  expect(both.map(({ code }) => code)).toEqual([7, 7]);
  expect(checkout.has('.holdfast/boot.lock')).toBe(false);
});

test('a lock of a process that died holds nobody up', async () => {
  checkout.write('.holdfast/boot.lock', String(2 ** 22 + 1));
  expect((await checkout.start()).code).toBe(7);
});

test('called from another folder, that folder is the one to work on', async () => {
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-elsewhere-')));
  const { out } = await checkout.start({ env: { INIT_CWD: elsewhere } });
  expect(JSON.parse(out).cwd).toBe(elsewhere);
  rmSync(elsewhere, { recursive: true });
});

test('the command holdfast prepares its checkout too, and passes its arguments on', async () => {
  const { out } = await checkout.start({ program: 'holdfast.mjs', args: ['sessions', '--limit', '3'] });
  expect(checkout.done()).toEqual(ALL);
  expect(JSON.parse(out).args).toEqual(['sessions', '--limit', '3']);
});
