import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Invocation, runTool } from '../../src/tools/invoke.ts';
import { Refusal } from '../../src/tools/refusal.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { createReadMarks } from '../../src/tools/workspace/read-marks.ts';
import { createWorkspace } from '../../src/tools/workspace/workspace.ts';
import { createWorkspaceTools } from '../../src/tools/workspace/workspace-tools.ts';
import { atomicWrite } from '../../src/tools/workspace-effects/atomic-write.ts';
import { createWorkspaceEffectTools } from '../../src/tools/workspace-effects/effect-tools.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { toolContext } from './context.ts';

const CANARY = 'canary-secret-value-123';
let base: string;
let root: string;
let tools: ReadonlyMap<string, Tool>;

function toolsOf(): ReadonlyMap<string, Tool> {
  const marks = createReadMarks(path.join(base, 'marks'));
  const env = { ...process.env, OPENAI_API_KEY: CANARY, MY_SETTING: CANARY, HTTPS_PROXY: `http://u:${CANARY}@proxy` };
  const effects = createWorkspaceEffectTools(root, {
    marks,
    env,
    redact: (text) => text.replaceAll(CANARY, '[redacted]'),
  });
  return new Map([...createWorkspaceTools(root, { marks }), ...effects].map((tool) => [tool.name, tool]));
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-effects-')));
  root = path.join(base, 'workspace');
  for (const folder of ['workspace/src', 'workspace/.git/hooks', 'outside'])
    mkdirSync(path.join(base, folder), { recursive: true });
  writeFileSync(path.join(root, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(path.join(base, 'outside', 'victim.txt'), 'untouched');
  tools = toolsOf();
});
afterEach(() => {
  expect(readFileSync(path.join(base, 'outside', 'victim.txt'), 'utf8')).toBe('untouched');
  expect(readdirSync(path.join(base, 'outside'))).toEqual(['victim.txt']);
  // No half-written file is left anywhere.
  expect(readdirSync(root, { recursive: true }).filter((name) => String(name).includes('.holdfast-'))).toEqual([]);
  rmSync(base, { recursive: true, force: true });
});

async function call(
  name: string,
  args: JsonObject,
  changes: Parameters<typeof toolContext>[0] = {},
): Promise<Invocation> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return runTool(tool, args, toolContext(changes));
}
function text(result: Invocation): string {
  return result.blocks.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}
async function ok(name: string, args: JsonObject): Promise<string> {
  const result = await call(name, args);
  expect(result, text(result)).toMatchObject({ status: 'ok' });
  return text(result);
}
async function refused(name: string, args: JsonObject): Promise<string> {
  const result = await call(name, args);
  expect(result, text(result)).toMatchObject({ status: 'error' });
  return text(result);
}
const content = (name: string): string => readFileSync(path.join(root, name), 'utf8');
const put = (name: string, bytes: string | Buffer): void => writeFileSync(path.join(root, name), bytes);

test('all say that they change something and run alone', () => {
  for (const name of ['write_file', 'edit_file', 'run_command']) {
    expect(tools.get(name)).toMatchObject({
      exclusive: true,
      annotations: { readOnlyHint: false, destructiveHint: true },
    });
  }
});

describe('nothing outside the workspace is written', () => {
  beforeEach(() => {
    symlinkSync(path.join(base, 'outside'), path.join(root, 'link-out'));
    symlinkSync(path.join(base, 'outside', 'victim.txt'), path.join(root, 'link-victim'));
    symlinkSync(path.join(base, 'outside', 'new.txt'), path.join(root, 'link-dangling'));
  });

  test.each([
    '../outside/victim.txt',
    '../outside/new.txt',
    '../new-folder/x.txt',
    'link-out/victim.txt',
    'link-out/new.txt',
    'link-out/deep/new.txt',
    'link-victim',
    'link-dangling',
    'src/../../outside/new.txt',
    '/tmp/holdfast-must-not-exist',
    '.git/hooks/pre-commit',
    '.git/config',
    '.holdfast/x',
    'node_modules/x/index.js',
    '.',
    'src',
    'a.txt/b',
    'a\0b',
  ])('write_file and edit_file refuse %j', async (given) => {
    await refused('write_file', { path: given, content: 'x', overwrite: true });
    await refused('edit_file', { path: given, oldText: 'untouched', newText: 'x' });
    expect(existsSync('/tmp/holdfast-must-not-exist')).toBe(false);
    expect(existsSync(path.join(base, 'new-folder'))).toBe(false);
    expect(existsSync(path.join(root, '.holdfast'))).toBe(false);
  });

  test('a folder that becomes a link after it was looked up is refused', async () => {
    const workspace = createWorkspace(root);
    const place = await workspace.locateNew('src/victim.txt');
    renameSync(path.join(root, 'src'), path.join(root, 'src-moved'));
    symlinkSync(path.join(base, 'outside'), path.join(root, 'src'));
    await expect(atomicWrite(workspace, place, Buffer.from('x'), { version: undefined })).rejects.toThrow(Refusal);
  });

  test('a folder further up that becomes a link after it was looked up is refused', async () => {
    const workspace = createWorkspace(root);
    mkdirSync(path.join(root, 'src/deep'));
    mkdirSync(path.join(base, 'elsewhere/deep'), { recursive: true });
    const place = await workspace.locateNew('src/deep/new.txt');
    renameSync(path.join(root, 'src'), path.join(root, 'src-moved'));
    symlinkSync(path.join(base, 'elsewhere'), path.join(root, 'src'));
    await expect(atomicWrite(workspace, place, Buffer.from('x'), { version: undefined })).rejects.toThrow(/outside/);
    expect(readdirSync(path.join(base, 'elsewhere/deep'))).toEqual([]);
  });

  test('a file that appears or becomes a link at the last moment is not replaced', async () => {
    const workspace = createWorkspace(root);
    const place = await workspace.locateNew('src/new.txt');
    symlinkSync(path.join(base, 'outside', 'victim.txt'), path.join(root, 'src/new.txt'));
    await expect(atomicWrite(workspace, place, Buffer.from('x'), { version: undefined })).rejects.toThrow(/meanwhile/);
  });
});

describe('write_file', () => {
  test('makes files and folders', async () => {
    expect(await ok('write_file', { path: 'new/deep/b.txt', content: 'hé\n' })).toBe(
      'Made "new/deep/b.txt" (4 bytes).',
    );
    expect(content('new/deep/b.txt')).toBe('hé\n');
    expect(await ok('write_file', { path: path.join(root, 'c.txt'), content: '' })).toMatch(/Made "c.txt"/);
  });

  test('replaces only what was read, and keeps the mode', async () => {
    chmodSync(path.join(root, 'a.txt'), 0o750);
    expect(await refused('write_file', { path: 'a.txt', content: 'new' })).toMatch(/was not read/);
    await ok('read_file', { path: 'a.txt' });
    expect(await ok('write_file', { path: 'a.txt', content: 'new' })).toMatch(/Replaced/);
    expect([content('a.txt'), statSync(path.join(root, 'a.txt')).mode & 0o777]).toEqual(['new', 0o750]);
    expect(await ok('write_file', { path: 'a.txt', content: 'newer' })).toMatch(/Replaced/);
    expect(await ok('write_file', { path: 'src/x.txt', content: '1' })).toMatch(/Made/);
  });

  test('refuses when the file changed since it was read', async () => {
    await ok('read_file', { path: 'a.txt' });
    put('a.txt', 'somebody else was here');
    expect(await refused('write_file', { path: 'a.txt', content: 'mine', overwrite: true })).toMatch(
      /changed since it was read/,
    );
    expect(content('a.txt')).toBe('somebody else was here');
    await ok('read_file', { path: 'a.txt' });
    await ok('write_file', { path: 'a.txt', content: 'mine' });
  });

  test('what one session read does not let another write', async () => {
    await call('read_file', { path: 'a.txt' }, { sessionId: 'other' });
    expect(await refused('write_file', { path: 'a.txt', content: 'x' })).toMatch(/was not read/);
    expect(await ok('write_file', { path: 'a.txt', content: 'x', overwrite: true })).toMatch(/Replaced/);
  });

  test('another worker of the same workspace knows what was read', async () => {
    await ok('read_file', { path: 'a.txt' });
    tools = toolsOf();
    await ok('write_file', { path: 'a.txt', content: 'x' });
  });

  test('a repeated call changes nothing more', async () => {
    await ok('write_file', { path: 'new.txt', content: 'same' });
    const before = statSync(path.join(root, 'new.txt')).ino;
    expect(await ok('write_file', { path: 'new.txt', content: 'same' })).toMatch(/already has this content/);
    expect(statSync(path.join(root, 'new.txt')).ino).toBe(before);
  });

  test('writes through a link that stays inside, and the link stays', async () => {
    symlinkSync('a.txt', path.join(root, 'link'));
    await ok('read_file', { path: 'link' });
    await ok('write_file', { path: 'link', content: 'through' });
    expect([
      content('a.txt'),
      readdirSync(root, { withFileTypes: true })
        .find(({ name }) => name === 'link')
        ?.isSymbolicLink(),
    ]).toEqual(['through', true]);
  });
});

describe('edit_file', () => {
  const edit = (oldText: string, newText: string, more: JsonObject = {}): JsonObject => ({
    path: 'a.txt',
    oldText,
    newText,
    ...more,
  });

  test('replaces an exact text once, and says where', async () => {
    expect(await ok('edit_file', edit('two', 'zwei'))).toBe('Edited "a.txt" at line 2.');
    expect(content('a.txt')).toBe('one\nzwei\nthree\n');
  });

  test.each([
    ['does not occur', edit('four', 'x'), /does not occur/],
    ['occurs twice', edit('e', 'x'), /occurs 3 times \(lines 1, 3, 3\)/],
    ['is the same', edit('two', 'two'), /same as oldText/],
    ['is empty', edit('', 'x'), /input\.oldText/],
  ])('a text that %s is refused and nothing changes', async (_, args, message) => {
    expect(await refused('edit_file', args)).toMatch(message);
    expect(content('a.txt')).toBe('one\ntwo\nthree\n');
  });

  test('replaces all on request, and takes $ and \\ literally', async () => {
    await ok('edit_file', edit('e', '$&\\1', { replaceAll: true }));
    expect(content('a.txt')).toBe('on$&\\1\ntwo\nthr$&\\1$&\\1\n');
  });

  test.each([
    ['CRLF', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['CRLF, one line', 'a\r\nb\r\n', 'a', 'x\ny', 'x\r\ny\r\nb\r\n'],
    ['mixed ends', 'a\r\nb\nc', 'b\nc', 'x\ny', 'a\r\nx\ny'],
    ['no end', 'a\nb', 'b', 'c', 'a\nc'],
    ['a byte order mark', '\ufeffa\nb', 'a', 'x', '\ufeffx\nb'],
  ])('keeps line ends: %s', async (_, before, oldText, newText, after) => {
    put('a.txt', before);
    await ok('edit_file', edit(oldText, newText));
    expect(content('a.txt')).toBe(after);
  });

  test('refuses when the file changed since it was read, though the text still occurs', async () => {
    await ok('read_file', { path: 'a.txt' });
    put('a.txt', 'zero\none\ntwo\nthree\n');
    expect(await refused('edit_file', edit('two', 'x'))).toMatch(/changed since it was read/);
    expect(content('a.txt')).toBe('zero\none\ntwo\nthree\n');
    await ok('read_file', { path: 'a.txt' });
    await ok('edit_file', edit('two', 'x'));
    await ok('edit_file', edit('x', 'y'));
  });

  test('refuses what is no text, and keeps the mode', async () => {
    put('bin', Buffer.from([1, 0, 2]));
    put('latin', Buffer.from('caf\xe9', 'latin1'));
    for (const name of ['bin', 'latin'])
      expect(await refused('edit_file', { path: name, oldText: 'c', newText: 'd' })).toMatch(/no UTF-8 text/);
    chmodSync(path.join(root, 'a.txt'), 0o666);
    await ok('edit_file', edit('two', '2'));
    expect(statSync(path.join(root, 'a.txt')).mode & 0o777).toBe(0o666);
  });

  test.each([
    ['made', 'two', 'zwei', true, 'done'],
    ['not made', 'two', 'zwei', false, 'not_done'],
    ['made, but the old text is part of the new', 'two', 'two and a half', true, 'unknown'],
    ['not made, and the old text is part of the new', 'two', 'two and a half', false, 'not_done'],
    ['made, and nothing stands instead', 'two', '', true, 'unknown'],
  ])(
    'after a crash an edit that was %s is told apart where the file shows it',
    async (_, oldText, newText, made, outcome) => {
      if (made) await ok('edit_file', edit(oldText, newText));
      const reconciled = await tools.get('edit_file')?.reconcile?.(edit(oldText, newText), toolContext());
      expect(reconciled?.outcome).toBe(outcome);
    },
  );

  test('after a crash nothing is known of a file that is gone', async () => {
    rmSync(path.join(root, 'a.txt'));
    expect(await tools.get('edit_file')?.reconcile?.(edit('two', 'x'), toolContext())).toEqual({ outcome: 'unknown' });
  });
});

describe('run_command', () => {
  test('gives output of both streams and the exit code', async () => {
    expect(await ok('run_command', { command: 'echo out; echo err >&2' })).toMatch(
      /^(out\nerr|err\nout)\n\[exit code 0\]$/,
    );
    expect(await refused('run_command', { command: 'echo bad; exit 3' })).toBe('bad\n[exit code 3]');
    expect(await ok('run_command', { command: 'pwd', cwd: 'src' })).toContain(path.join(root, 'src'));
    expect(await ok('run_command', { args: ['printf', 'no newline'] })).toBe('no newline\n[exit code 0]');
  });

  test('arguments are never interpreted', async () => {
    const hostile = [
      '; touch pwned',
      '$(touch pwned)',
      '`touch pwned`',
      '| touch pwned',
      '&& touch pwned',
      '\n touch pwned',
      '-n',
      '*',
      '~',
    ];
    const said = await ok('run_command', { args: ['printf', '%s|', ...hostile] });
    expect(said).toBe(`${hostile.join('|')}|\n[exit code 0]`);
    expect(existsSync(path.join(root, 'pwned'))).toBe(false);
  });

  test.each<[string, JsonObject, RegExp]>([
    ['neither', {}, /either command or args/],
    ['both', { command: 'a', args: ['b'] }, /either command or args/],
    ['a NUL', { args: ['echo', 'a\0b'] }, /NUL/],
    ['no such program', { args: ['no-such-program-xyz'] }, /no program "no-such-program-xyz"/],
    ['a folder outside', { command: 'pwd', cwd: '..' }, /outside the workspace/],
    ['a folder that is none', { command: 'pwd', cwd: 'a.txt' }, /no folder/],
    ['a folder of git', { command: 'pwd', cwd: '.git/hooks' }, /excluded/],
  ])('%s is refused', async (_, args, message) => {
    expect(await refused('run_command', args)).toMatch(message);
  });

  test('finds no secrets in its environment, and none in its output', async () => {
    const said = await ok('run_command', { command: 'env; echo "-- $OPENAI_API_KEY"' });
    expect(said).not.toContain(CANARY);
    expect(said).not.toMatch(/OPENAI_API_KEY=|MY_SETTING=|HTTPS_PROXY=/);
    expect(said).toMatch(/^PATH=/m);
    put('leak.txt', CANARY);
    expect(await ok('run_command', { command: 'cat leak.txt' })).toBe('[redacted]\n[exit code 0]');
  });

  test('endless output is kept in bounded memory, head and tail', async () => {
    const said = await ok('run_command', { command: 'echo FIRST; yes 0123456789abcdef | head -c 6000000; echo LAST' });
    expect(said.length).toBeLessThan(1_200_000);
    expect(said).toMatch(/^FIRST\n/);
    expect(said).toMatch(/bytes were cut/);
    expect(said).toMatch(/LAST\n\[exit code 0\]$/);
  });

  const alive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      // A zombie that nobody has waited for yet counts as gone.
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    } catch {
      return false;
    }
  };
  const pidIn = (name: string): number => Number(content(name));
  async function gone(pid: number): Promise<boolean> {
    for (let i = 0; i < 100 && alive(pid); i += 1) await new Promise((resolve) => setTimeout(resolve, 20));
    return !alive(pid);
  }
  async function appears(name: string): Promise<void> {
    while (!existsSync(path.join(root, name)) || content(name) === '')
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  test('on cancel the whole process group ends, also what ignores the request', async () => {
    const stop = new AbortController();
    const running = call(
      'run_command',
      {
        command:
          "trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$ > inner; while :; do sleep 0.1; done\" & wait; sleep 60",
      },
      { signal: stop.signal },
    );
    await appears('inner');
    stop.abort(new Error('user'));
    const result = await running;
    expect(result.status).toBe('cancelled');
    expect(await gone(pidIn('inner'))).toBe(true);
  });

  test('at its time limit it ends, with what it had printed', async () => {
    const said = await refused('run_command', { command: 'echo begun; sleep 60', timeoutSecs: 0.5 });
    expect(said).toBe('begun\n[ended after 0.5 s: its time was up]');
  });

  test('what it leaves in the background ends with it, and is not waited for', async () => {
    const said = await ok('run_command', { command: 'sleep 60 & echo $! > inner; echo done' });
    expect(said).toBe('done\n[exit code 0]');
    expect(await gone(pidIn('inner'))).toBe(true);
  });
});
