import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Folders that no tool lists, searches or reads: version control's own, installed packages, Holdfast's state. */
const NEVER: ReadonlySet<string> = new Set(['.git', 'node_modules', '.holdfast']);
/** Bytes of a `.gitignore` that are read. */
const MAX_BYTES = 256 * 1024;

/** Which paths of the workspace its `.gitignore` files exclude. One object serves one call, so that edits are seen by the next. */
export interface IgnoreRules {
  /** `relative`: from the root, with `/`. A path inside an excluded folder is excluded. */
  excludes(relative: string, isDirectory: boolean): Promise<boolean>;
}

/** Reads the `.gitignore` of the root and of each folder below it as they are needed; each file once. */
export function createIgnoreRules(root: string): IgnoreRules {
  const rulesOf = new Map<string, Promise<Ignore | undefined>>();
  const verdicts = new Map<string, Promise<boolean>>();

  const rules = (folder: string): Promise<Ignore | undefined> => {
    const known = rulesOf.get(folder);
    if (known !== undefined) return known;
    const loading = load(path.join(root, folder, '.gitignore'));
    rulesOf.set(folder, loading);
    return loading;
  };

  const folderExcluded = (folder: string): Promise<boolean> => {
    const known = verdicts.get(folder);
    if (known !== undefined) return known;
    const verdict = excludes(folder, true);
    verdicts.set(folder, verdict);
    return verdict;
  };

  const excludes = async (relative: string, isDirectory: boolean): Promise<boolean> => {
    if (relative === '.' || relative === '') return false;
    const parts = relative.split('/');
    if (parts.some((part) => NEVER.has(part.toLowerCase()))) return true;
    const parent = parts.slice(0, -1).join('/');
    if (parent !== '' && (await folderExcluded(parent))) return true;
    // The file nearest to the path has the last word, as in git.
    for (let depth = parts.length - 1; depth >= 0; depth -= 1) {
      const nearest = await rules(parts.slice(0, depth).join('/'));
      if (nearest === undefined) continue;
      const below = parts.slice(depth).join('/');
      const verdict = nearest.test(isDirectory ? `${below}/` : below);
      if (verdict.ignored || verdict.unignored) return verdict.ignored;
    }
    return false;
  };

  return { excludes };
}

async function load(file: string): Promise<Ignore | undefined> {
  // Only a plain file counts: a link could make somebody else's file speak here, a pipe would hang.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(file, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return ignore({ allowRelativePaths: true }).add(buffer.toString('utf8', 0, bytesRead));
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
