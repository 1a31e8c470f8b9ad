import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Invocation, runTool } from '../../src/tools/invoke.ts';
import { Refusal } from '../../src/tools/refusal.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { createLineMatcher } from '../../src/tools/workspace/line-matcher.ts';
import { createWorkspace } from '../../src/tools/workspace/workspace.ts';
import { createWorkspaceTools } from '../../src/tools/workspace/workspace-tools.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { toolContext } from './context.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 300); // each run touches the disk
const SECRET = 'TOP-SECRET-OUTSIDE';

let base: string;
let root: string;
let socket: Server;
let tools: ReadonlyMap<string, Tool>;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-tools-')));
  root = path.join(base, 'workspace');
  const outside = path.join(base, 'outside');
  for (const dir of [
    'workspace/src/deep',
    'workspace/dist',
    'workspace/node_modules/pkg',
    'workspace/.git',
    'workspace/.holdfast',
    'outside',
    'workspace-sibling',
  ]) {
    mkdirSync(path.join(base, dir), { recursive: true });
  }
  const files: Record<string, string> = {
    'outside/secret.txt': SECRET,
    'workspace-sibling/secret.txt': SECRET,
    'workspace/.gitignore': 'dist/\n*.log\n!keep.log\n/only-root.txt\n',
    'workspace/src/.gitignore': 'generated.*\n',
    'workspace/src/deep/.gitignore': '!generated.ts\n',
    'workspace/a.txt': 'first\nsecond needle\nthird\n',
    'workspace/only-root.txt': 'needle',
    'workspace/src/only-root.txt': 'needle',
    'workspace/src/crlf.ts': 'one\r\nNeedle two\r\n',
    'workspace/src/generated.ts': 'needle',
    'workspace/src/deep/generated.ts': 'needle',
    'workspace/src/deep/b.md': '# Title\n\nRetry policy lives here.',
    'workspace/dist/out.js': 'needle',
    'workspace/dist/.gitignore': '!*',
    'workspace/debug.log': 'needle',
    'workspace/keep.log': 'needle',
    'workspace/node_modules/pkg/index.js': 'needle',
    'workspace/.git/config': 'needle',
    'workspace/.holdfast/state': 'needle',
    'workspace/empty.txt': '',
    'workspace/long.txt': `${'x'.repeat(5000)}needle${'y'.repeat(5000)}\n`,
    'workspace/evil\n2\tforged': 'needle',
    'workspace/\u001b[31mred': 'needle',
    'workspace/bom.txt': '\ufeffneedle',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(base, name), content);
  writeFileSync(path.join(root, 'image.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]));
  writeFileSync(path.join(root, 'program'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]));
  writeFileSync(path.join(root, 'latin1.txt'), Buffer.from('caf\xe9 needle', 'latin1'));
  symlinkSync(path.join(outside, 'secret.txt'), path.join(root, 'link-to-secret'));
  symlinkSync(outside, path.join(root, 'link-to-folder'));
  symlinkSync('src/deep', path.join(root, 'link-inside'));
  symlinkSync('.git/config', path.join(root, 'link-to-git'));
  symlinkSync('/dev/zero', path.join(root, 'zero'));
  symlinkSync('loop', path.join(root, 'loop'));
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  socket = createServer().listen(path.join(root, 'sock'));
  await new Promise((resolve) => socket.once('listening', resolve));
  tools = new Map(createWorkspaceTools(root).map((tool) => [tool.name, tool]));
});

afterAll(() => {
  socket.close();
  rmSync(base, { recursive: true, force: true });
});

async function call(name: string, args: JsonObject, signal = new AbortController().signal): Promise<Invocation> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return runTool(tool, args, toolContext({ signal }));
}
function text(result: Invocation): string {
  return result.blocks.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}
const ok = async (name: string, args: JsonObject): Promise<string> => {
  const result = await call(name, args);
  expect(result, text(result)).toMatchObject({ status: 'ok' });
  return text(result);
};
const refused = async (name: string, args: JsonObject): Promise<string> => {
  const result = await call(name, args);
  expect(result, text(result)).toMatchObject({ status: 'error', isError: true });
  return text(result);
};

test('all four say that they change nothing', () => {
  expect([...tools.keys()]).toEqual(['list_dir', 'find_files', 'search_text', 'read_file']);
  for (const tool of tools.values()) expect(tool.annotations.readOnlyHint).toBe(true);
});

describe('nothing outside the workspace is reached', () => {
  const escapes = [
    '../outside/secret.txt',
    '../workspace-sibling/secret.txt',
    'src/../../outside/secret.txt',
    'link-to-secret',
    'link-to-folder/secret.txt',
    './link-to-folder/../outside/secret.txt',
    '/etc/passwd',
    '/proc/self/environ',
    '/dev/fd/0',
  ];

  test.each(escapes)('read_file refuses %s', async (given) => {
    const said = await refused('read_file', { path: given });
    expect(said).not.toContain(SECRET);
  });

  test.each(['..', '/', '/etc', 'link-to-folder', '../outside', 'src/../..'])('list_dir refuses %s', async (given) => {
    expect(await refused('list_dir', { path: given })).not.toContain('secret.txt');
  });

  test.each([
    '../**',
    '../outside/*',
    '/etc/*',
    'src/../../outside/*',
    '{../outside/*,x}',
    '{a,../outside}/*',
    '@(..)/outside/*',
    'link-to-folder/*',
    '**/secret.txt',
  ])('find_files finds nothing by %s', async (pattern) => {
    const said = text(await call('find_files', { pattern }));
    expect(said).not.toContain('secret.txt:');
    expect(said.split('\n').some((row) => row.endsWith('secret.txt'))).toBe(
      said.includes(JSON.stringify(pattern)) && false,
    );
  });

  test('search_text does not follow links', async () => {
    for (const glob of ['**', 'link-to-folder/**', 'link-to-secret', '../**']) {
      expect(text(await call('search_text', { query: 'TOP-SECRET', glob }))).not.toContain('OUTSIDE');
    }
  });

  test('no path of any shape shows a byte from outside', async () => {
    const part = fc.constantFrom(
      '..',
      '.',
      'src',
      'deep',
      'link-to-folder',
      'link-to-secret',
      'link-inside',
      'outside',
      'secret.txt',
      'workspace',
      '',
      '~',
      'loop',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 7 }),
        fc.constantFrom('', '/', base, `${base}/`),
        async (parts, start) => {
          const given = start + parts.join('/');
          for (const name of ['read_file', 'list_dir']) {
            const result = await call(name, { path: given });
            expect(text(result)).not.toContain(SECRET);
            if (name === 'list_dir' && result.status === 'ok') expect(text(result)).not.toMatch(/^secret\.txt/m);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('a file or folder that becomes a link after it was looked up is refused', async () => {
    const workspace = createWorkspace(root);
    mkdirSync(path.join(root, 'swap'));
    writeFileSync(path.join(root, 'swap', 'secret.txt'), 'harmless');
    const file = await workspace.locate('swap/secret.txt');
    const folder = await workspace.locate('swap');
    renameSync(path.join(root, 'swap'), path.join(root, 'swapped'));
    symlinkSync(path.join(base, 'outside'), path.join(root, 'swap'));
    try {
      await expect(workspace.openFile(file)).rejects.toThrow(Refusal);
      await expect(workspace.entries(folder)).rejects.toThrow(Refusal);
    } finally {
      rmSync(path.join(root, 'swap'));
      rmSync(path.join(root, 'swapped'), { recursive: true });
    }
  });
});

describe('what is no plain file is refused at once', () => {
  test.each([
    ['pipe', /device, pipe or socket/],
    ['sock', /device/],
    ['zero', /outside the workspace/],
    ['loop', /symbolic link/],
    ['src', /is a folder/],
    ['nothing-here.txt', /no such file/],
    ['a.txt/b', /not a folder|no such file/],
    ['a\0b', /NUL/],
    ['x'.repeat(5000), /too long/],
  ])('%s', async (given, reason) => {
    expect(await refused('read_file', { path: given })).toMatch(reason);
  });

  test.skipIf(process.getuid?.() === 0)('a file without permission', async () => {
    const file = path.join(root, 'forbidden.txt');
    writeFileSync(file, 'x');
    chmodSync(file, 0);
    expect(await refused('read_file', { path: 'forbidden.txt' })).toMatch(/permission/);
    rmSync(file);
  });

  test('a workspace that is no folder', () => {
    expect(() => createWorkspaceTools(path.join(root, 'a.txt'))).toThrow(/must be a folder/);
    expect(() => createWorkspaceTools(path.join(root, 'nope'))).toThrow(/no such file/);
  });
});

describe('read_file', () => {
  test('numbers lines and keeps to the range', async () => {
    expect(await ok('read_file', { path: 'a.txt' })).toBe('1\tfirst\n2\tsecond needle\n3\tthird');
    expect(await ok('read_file', { path: 'a.txt', startLine: 2, endLine: 2 })).toBe(
      '2\tsecond needle\n[lines up to 2 of 3; read on with startLine 3]',
    );
    expect(await ok('read_file', { path: path.join(root, 'a.txt'), startLine: 3, endLine: 99 })).toBe('3\tthird');
    expect(await ok('read_file', { path: 'src/crlf.ts' })).toBe('1\tone\n2\tNeedle two');
    expect(await ok('read_file', { path: 'empty.txt' })).toContain('is empty');
    expect(await ok('read_file', { path: 'bom.txt' })).toBe('1\tneedle');
    expect(await ok('read_file', { path: 'link-inside/b.md', startLine: 3 })).toBe('3\tRetry policy lives here.');
  });

  test('tells where the file ends', async () => {
    expect(await refused('read_file', { path: 'a.txt', startLine: 9 })).toMatch(/has 3 lines/);
    expect(await refused('read_file', { path: 'a.txt', startLine: 3, endLine: 2 })).toMatch(/before startLine/);
    expect(await refused('read_file', { path: 'a.txt', startLine: 0 })).toMatch(/input\.startLine/);
  });

  test('shows images, and says of other binaries what they are', async () => {
    expect((await call('read_file', { path: 'image.png' })).blocks).toMatchObject([
      { type: 'image', mediaType: 'image/png' },
    ]);
    expect(await refused('read_file', { path: 'program' })).toMatch(/binary file \(application\/x-elf, 6 bytes\)/);
    expect(await ok('read_file', { path: 'latin1.txt' })).toBe('1\tcaf\ufffd needle');
  });

  test('refuses what is excluded, also through a link, unless told otherwise', async () => {
    for (const given of [
      '.git/config',
      'link-to-git',
      '.holdfast/state',
      'node_modules/pkg/index.js',
      'dist/out.js',
      'debug.log',
    ]) {
      expect(await refused('read_file', { path: given })).toMatch(/excluded/);
    }
    expect(await ok('read_file', { path: 'keep.log' })).toBe('1\tneedle');
    const open = createWorkspaceTools(root, { readIgnored: true }).find((tool) => tool.name === 'read_file');
    expect(open && text(await runTool(open, { path: 'dist/out.js' }, toolContext()))).toBe('1\tneedle');
  });

  test('reads any part of a huge file with little memory', async () => {
    const file = path.join(root, 'huge.txt');
    const line = `${'z'.repeat(99)}\n`;
    writeFileSync(file, line.repeat(400_000)); // 40 MB
    const before = process.memoryUsage().rss;
    const said = await ok('read_file', { path: 'huge.txt', startLine: 390_000, endLine: 390_001 });
    expect(said).toMatch(/^390000\tz+\n390001\tz+\n\[lines up to 390001 of (400000|more than \d+)/);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    const whole = await ok('read_file', { path: 'huge.txt' });
    expect(whole.length).toBeLessThan(40_000);
    expect(whole).toMatch(/read on with startLine \d+\]$/);
    rmSync(file);
  });
});

describe('list_dir and find_files', () => {
  test('list sorted entries with marks, without the excluded ones', async () => {
    const listed = (await ok('list_dir', {})).split('\n');
    expect(listed).toContain('src/');
    expect(listed).toContain('a.txt\t26');
    expect(listed).toContain('link-to-folder\tlink');
    expect(listed).toContain('pipe\tspecial');
    expect(listed).toContain(JSON.stringify('evil\n2\tforged').concat('\t6'));
    for (const hidden of ['dist/', 'node_modules/', '.git/', '.holdfast/', 'debug.log\t6', 'only-root.txt\t6'])
      expect(listed).not.toContain(hidden);
    expect(listed.at(-1)).toMatch(/^\[\d+ excluded entries not shown\]$/);
    expect(await refused('list_dir', { path: 'dist' })).toMatch(/excluded/);
    expect(await ok('list_dir', { path: 'link-inside' })).toContain('b.md');
  });

  test('nested ignore files have the last word below them', async () => {
    const found = (await ok('find_files', { pattern: '**' })).split('\n');
    expect(found).toContain('src/deep/generated.ts');
    expect(found).toContain('src/only-root.txt');
    expect(found).toContain('keep.log');
    for (const hidden of ['src/generated.ts', 'only-root.txt', 'debug.log', 'dist/out.js'])
      expect(found).not.toContain(hidden);
    expect(found).toEqual([...found].sort());
  });

  test.each([
    ['*.md', 'src/deep/b.md'],
    ['b.*', 'src/deep/b.md'],
    ['src/**/*.{md,rs}', 'src/deep/b.md'],
    ['./src/deep/', 'src/deep/.gitignore\nsrc/deep/b.md\nsrc/deep/generated.ts'],
    ['no-such-*', '(no files match)'],
    ['node_modules/**', '(no files match)'],
    ['dist/*', '(no files match)'],
  ])('%s finds %j', async (pattern, expected) => {
    expect(await ok('find_files', { pattern })).toBe(expected);
  });
});

describe('search_text', () => {
  test('gives path, line and text, ignoring case for a query without capitals', async () => {
    const said = await ok('search_text', { query: 'needle' });
    expect(said).toContain('\na.txt:2: second needle\n');
    expect(said).toContain('\nsrc/crlf.ts:2: Needle two\n');
    expect(said).toMatch(/^\[\d+ matches in \d+ files\]/);
    expect(said).not.toMatch(/dist|node_modules|\.git\/|\.holdfast|debug\.log/);
    expect(await ok('search_text', { query: 'Needle' })).toBe('[1 match in 1 file]\nsrc/crlf.ts:2: Needle two');
    expect(await ok('search_text', { query: 'NEEDLE', caseSensitive: false, glob: 'a.txt' })).toContain('a.txt:2:');
  });

  test('takes regular expressions, capitals in their escapes aside', async () => {
    expect(await ok('search_text', { query: 'n\\S+dle two', regex: true })).toContain('src/crlf.ts:2:');
    expect(await ok('search_text', { query: '^(retry|x) ', regex: true })).toBe(
      '[1 match in 1 file]\nsrc/deep/b.md:3: Retry policy lives here.',
    );
    expect(await refused('search_text', { query: '(', regex: true })).toMatch(/no regular expression/);
    expect(await ok('search_text', { query: '(', glob: 'a.txt' })).toBe('No matches in 1 file.');
  });

  test('shows the part of a long line that matches, and names cannot forge lines', async () => {
    const rows = (await ok('search_text', { query: 'needle' })).split('\n');
    expect(rows.find((row) => row.startsWith('long.txt:1: '))).toMatch(/^long\.txt:1: …x+needley+…$/);
    expect(rows.every((row) => row.length < 400 && !row.includes('\u001b') && !row.startsWith('2\t'))).toBe(true);
  });

  test('says when there is more', async () => {
    const said = await ok('search_text', { query: 'needle', maxResults: 2 });
    expect(said.split('\n').filter((row) => /:\d+: /.test(row))).toHaveLength(2);
    expect(said).toMatch(/\[at least \d+ matches.*\n[\s\S]*\[more matches: stopped at 2; narrow/);
  });

  test('a plain text finds itself, whatever characters it is made of', async () => {
    const word = fc.string({ unit: fc.constantFrom(...'aZß漢😀-/\\^$.*+?()[]{}|"\' \t'), minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(word, word, word, async (before, query, after) => {
        const matcher = createLineMatcher(query, { regex: false });
        const found = await matcher.find(['', before + query + after], new AbortController().signal);
        expect(found.map(({ index }) => index)).toEqual([1]);
      }),
      { numRuns: RUNS },
    );
  });

  test('line numbers are right across small, large and binary files', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) =>
      i % 1000 === 999 ? `mark ${i + 1}` : 'filler filler filler',
    );
    mkdirSync(path.join(root, 'many'));
    for (const [name, take] of [
      ['a', 2000],
      ['b', 30_000],
      ['c', 1000],
      ['d', 3000],
    ] as const) {
      writeFileSync(path.join(root, 'many', name), lines.slice(0, take).join('\n'));
    }
    writeFileSync(path.join(root, 'many', 'bb'), Buffer.from('mark\0'));
    for (const args of [{ query: 'mark' }, { query: '^ma.k', regex: true }]) {
      const said = await ok('search_text', { ...args, glob: 'many/*' });
      const rows = said.split('\n').filter((row) => row.startsWith('many/'));
      expect(rows).toHaveLength(2 + 30 + 1 + 3);
      for (const row of rows) expect(row).toMatch(/^many\/[abcd]:(\d+): mark \1$/);
    }
    rmSync(path.join(root, 'many'), { recursive: true });
  });

  test('two searches of the same tree give the same bytes', async () => {
    expect(await ok('search_text', { query: 'e' })).toBe(await ok('search_text', { query: 'e' }));
  });

  test('a pattern that backtracks without end is stopped, and the process stays responsive', async () => {
    writeFileSync(path.join(root, 'aaaa.txt'), `${'a'.repeat(60)}b\n`);
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 20);
    const said = await refused('search_text', { query: '^(a+)+$', regex: true, glob: 'aaaa.txt' });
    clearInterval(ticking);
    expect(said).toMatch(/takes too long/);
    expect(ticks).toBeGreaterThan(20);
    rmSync(path.join(root, 'aaaa.txt'));
  });

  test('a cancelled search stops, whatever the pattern', async () => {
    writeFileSync(path.join(root, 'aaaa.txt'), `${'a'.repeat(60)}b\n`);
    const stop = new AbortController();
    const searching = call('search_text', { query: '^(a+)+$', regex: true, glob: 'aaaa.txt' }, stop.signal);
    setTimeout(() => stop.abort(new Error('user')), 100);
    expect(await searching).toMatchObject({ status: 'cancelled' });
    rmSync(path.join(root, 'aaaa.txt'));
  });
});
