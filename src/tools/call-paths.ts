import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '../transcript/json.ts';
import type { CallPath } from './policy.ts';
import { isInside } from './workspace/workspace.ts';

/** Arguments that name files or folders, by the names that tools of all makers give them. */
const NAMES: ReadonlySet<string> = new Set([
  'path',
  'paths',
  'file',
  'files',
  'filename',
  'filepath',
  'folder',
  'dir',
  'directory',
  'cwd',
  'root',
  'source',
  'src',
  'destination',
  'dest',
  'target',
  'from',
  'to',
  'oldpath',
  'newpath',
]);

/**
 * The paths among the arguments of a call, as the policy needs them: by their text, `a/../b` undone, and by what their
 * links lead to. A part that does not exist yet stands for itself.
 */
export async function callPaths(args: JsonObject, workspace: string): Promise<readonly CallPath[]> {
  const named = Object.entries(args).filter(([key]) => NAMES.has(key.toLowerCase().replace(/[_-]/g, '')));
  const texts = named
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((one) => typeof one === 'string');
  const root = await realpath(workspace);
  return Promise.all(texts.map((text) => callPath(text, root, path.resolve(workspace))));
}

async function callPath(given: string, root: string, alias: string): Promise<CallPath> {
  if (given.includes('\0')) return 'outside';
  const relative = path.isAbsolute(given) && isInside(alias, path.resolve(given)) ? path.relative(alias, given) : given;
  const absolute = path.resolve(root, relative === '' ? '.' : relative);
  if (!isInside(root, absolute)) return 'outside';
  const real = await resolved(absolute);
  if (real === undefined || !isInside(root, real)) return 'outside';
  return { inside: [...new Set([fromRoot(root, absolute), fromRoot(root, real)])] };
}

/** Where the path leads, as far as it exists; `undefined` when that cannot be told (a loop of links, no permission). */
async function resolved(absolute: string): Promise<string | undefined> {
  try {
    return await realpath(absolute);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = path.dirname(absolute);
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || parent === absolute) return undefined;
    // A link to nothing yet leads where nobody has looked.
    if (
      await lstat(absolute).then(
        () => true,
        () => false,
      )
    )
      return undefined;
    const above = await resolved(parent);
    return above === undefined ? undefined : path.join(above, path.basename(absolute));
  }
}

function fromRoot(root: string, absolute: string): string {
  const relative = path.relative(root, absolute);
  return relative === '' ? '.' : relative.split(path.sep).join('/');
}
