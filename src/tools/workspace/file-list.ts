import type { Dirent, PathLike } from 'node:fs';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { Refusal, shown } from '../refusal.ts';
import { createIgnoreRules } from './ignore-rules.ts';
import { byName, isInside, type Workspace } from './workspace.ts';

const MAX_PATTERN = 1000;

/**
 * Files of the workspace that match a glob, from the root, sorted; without those that `.gitignore` excludes, and never
 * through a symbolic link. A pattern without a slash matches at any depth, as in `.gitignore`.
 *
 * @throws Refusal for a pattern that leads outside; `signal.reason` once aborted.
 */
export async function fileList(workspace: Workspace, pattern: string, signal: AbortSignal): Promise<readonly string[]> {
  const found = await glob(inside(workspace.root, pattern), {
    cwd: workspace.root,
    dot: true,
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: false,
    signal,
    fs: { readdir: readableEntries(workspace) as never },
  });
  signal.throwIfAborted();
  return found.sort(byName);
}

/** The pattern as tinyglobby takes it; it would follow `..` and absolute patterns out of the root. */
function inside(root: string, pattern: string): string {
  if (pattern.length > MAX_PATTERN) throw new Refusal(`This pattern is longer than ${MAX_PATTERN} characters.`);
  const below = path.isAbsolute(pattern) && isInside(root, pattern) ? path.relative(root, pattern) : pattern;
  const plain = below.replace(/^(\.\/)+/, '');
  if (path.isAbsolute(plain) || /(^|[/{,(|])\.\.([/},)|]|$)/.test(plain) || plain.includes('\0')) {
    throw new Refusal(`${shown(pattern)}: a pattern may not lead outside the workspace.`);
  }
  if (plain === '' || plain === '.') return '**';
  if (plain.endsWith('/')) return `${plain}**`;
  return plain.includes('/') ? plain : `**/${plain}`;
}

type Callback = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** `fs.readdir` that shows no excluded entries, so that whole folders are never walked; unreadable folders are empty. */
function readableEntries(workspace: Workspace): (folder: PathLike, options: unknown, done: Callback) => void {
  const rules = createIgnoreRules(workspace.root);
  const visible = async (folder: string): Promise<Dirent[]> => {
    const relative = path.relative(workspace.root, path.resolve(folder)).split(path.sep).join('/');
    const entries = await workspace.entries(await workspace.locate(relative));
    const verdicts = await Promise.all(
      entries.map((entry) =>
        rules.excludes(relative === '' ? entry.name : `${relative}/${entry.name}`, entry.isDirectory()),
      ),
    );
    return entries.filter((_, i) => verdicts[i] === false);
  };
  return (folder, _options, done) => {
    visible(String(folder)).then(
      (entries) => done(null, entries),
      () => done(null, []),
    );
  };
}
