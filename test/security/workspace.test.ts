import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Invocation, runTool } from '../../src/tools/invoke.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { createReadMarks } from '../../src/tools/workspace/read-marks.ts';
import { createWorkspaceTools } from '../../src/tools/workspace/workspace-tools.ts';
import { createWorkspaceEffectTools } from '../../src/tools/workspace-effects/effect-tools.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { wellFormed } from '../../src/transcript/well-formed.ts';
import { toolContext } from '../tools/context.ts';

const SECRET = 'the-content-of-the-file-outside';
let base: string;
let root: string;
let outside: string;
let tools: ReadonlyMap<string, Tool>;

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-security-')));
  root = path.join(base, 'workspace');
  outside = path.join(base, 'outside');
  mkdirSync(path.join(root, 'sub'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(path.join(root, 'sub/file.txt'), 'inside');
  writeFileSync(path.join(root, 'file.txt'), 'inside');
  writeFileSync(path.join(outside, 'file.txt'), SECRET);
  const marks = createReadMarks(path.join(base, 'marks'));
  const effects = createWorkspaceEffectTools(root, { marks, env: process.env, redact: (text) => text });
  tools = new Map([...createWorkspaceTools(root, { marks }), ...effects].map((tool) => [tool.name, tool]));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function call(name: string, args: JsonObject): Promise<Invocation> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return runTool(tool, args, toolContext({ workspace: root }));
}

function text({ blocks }: Invocation): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n');
}

function untouched(): void {
  expect(readdirSync(outside)).toEqual(['file.txt']);
  expect(readFileSync(path.join(outside, 'file.txt'), 'utf8')).toBe(SECRET);
}

/** Swaps a name between what it is and a link to outside, as fast as it can, until it is ended. */
const SWAPPER = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [name, target, aside] = process.argv.slice(1);
const put = (from, to) => {
  for (;;) {
    try {
      return renameSync(from, to);
    } catch {
      // A tool has made something there meanwhile.
      try { rmSync(to, { recursive: true, force: true }); } catch {}
    }
  }
};
symlinkSync(target, aside + '.link');
process.stdout.write('ready');
for (;;) {
  put(name, aside + '.own');
  put(aside + '.link', name);
  put(name, aside + '.link');
  put(aside + '.own', name);
}
`;

async function swapping(name: string, target: string): Promise<ChildProcess> {
  const args = ['-e', SWAPPER, path.join(root, name), target, path.join(base, 'aside')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

describe('links that are swapped while a tool works', () => {
  test.each([
    ['a folder', 'sub', () => outside],
    ['a file', 'sub/file.txt', () => path.join(outside, 'file.txt')],
  ])('%s never lets a tool read or write outside', async (_, name, target) => {
    const swapper = await swapping(name, target());
    try {
      const said = { inside: 0, other: 0 };
      for (let n = 0; n < 400 && Math.min(said.inside, said.other) < 8; n += 1) {
        const results = await Promise.all([
          call('read_file', { path: 'sub/file.txt' }),
          ...(n % 10 === 0 ? [call('search_text', { query: 'content-of-the-file' })] : []),
          call('list_dir', { path: 'sub' }),
          call('write_file', { path: 'sub/file.txt', content: 'inside' }),
          call('write_file', { path: `sub/new-${n}.txt`, content: 'inside' }),
          call('edit_file', { path: 'sub/file.txt', oldText: 'inside', newText: 'inside!' }),
        ]);
        for (const result of results) expect(text(result)).not.toContain(SECRET);
        if (results[0]?.status === 'ok') said.inside += 1;
        else said.other += 1;
      }
      untouched();
      // Both sides of the race were met, so it was one.
      expect(said.inside).toBeGreaterThan(0);
      expect(said.other).toBeGreaterThan(0);
    } finally {
      const closed = once(swapper, 'close');
      if (swapper.exitCode === null && swapper.kill('SIGKILL')) await closed;
    }
  });
});

describe('paths', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'sub',
      'file.txt',
      'link',
      '~',
      '$HOME',
      'outside',
      '..\\..',
      '%2e%2e',
      '\u2024\u2024',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  const wild = fc
    .tuple(fc.constantFrom('', '/', './', '../', '//', 'file://', '\\\\', 'C:\\'), fc.array(part, { maxLength: 8 }))
    .map(([start, parts]) => start + parts.join('/'));

  test('of any shape lead nowhere outside, for reading or writing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          wild,
          wild.map((given) => `${outside}/${given}`),
        ),
        async (given) => {
          for (const [name, args] of [
            ['read_file', { path: given }],
            ['list_dir', { path: given }],
            ['write_file', { path: given, content: 'x' }],
            ['edit_file', { path: given, oldText: 'the', newText: 'x' }],
            ['run_command', { args: ['cat', 'file.txt'], cwd: given }],
          ] as const) {
            expect(text(await call(name, args))).not.toContain(SECRET);
          }
          untouched();
          expect(readdirSync(base).sort()).toEqual(
            existsSync(path.join(base, 'marks')) ? ['marks', 'outside', 'workspace'] : ['outside', 'workspace'],
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('commands', () => {
  const PRINT = ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--'];
  const nasty = fc.oneof(
    fc.constantFrom(
      '; touch owned',
      '$(touch owned)',
      '`touch owned`',
      '| touch owned',
      '&& touch owned',
      '\ntouch owned\n',
      "'; touch owned; '",
      '"; touch owned; "',
      '> owned',
      '$IFS touch$IFS owned',
      '*',
      '~',
      '-rf',
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((made) => made.replaceAll('\0', '')),
  );

  test('an argument list is never read by a shell: the program gets the very texts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(nasty, { minLength: 1, maxLength: 5 }), async (given) => {
        const args = given.map(wellFormed);
        const result = await call('run_command', { args: [process.execPath, ...PRINT, ...args] });
        expect(JSON.parse(text(result).split('\n')[0] ?? '')).toEqual(args);
        expect(existsSync(path.join(root, 'owned'))).toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  test('a program whose name is a shell line is not found', async () => {
    const result = await call('run_command', { args: ['sh -c "touch owned"'] });
    expect(result.status).toBe('error');
    expect(existsSync(path.join(root, 'owned'))).toBe(false);
  });

  test('only a command that is asked for as such goes to the shell', async () => {
    expect(text(await call('run_command', { command: 'echo a && echo b' }))).toMatch(/^a\nb\n/);
    expect((await call('run_command', { command: 'echo a', args: ['echo', 'b'] })).status).toBe('error');
  });
});
