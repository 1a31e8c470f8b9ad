import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ReadWorkspaceFile } from './compose-prompt.ts';

/** Bytes of a file that may go into a prompt at all; what is longer is cut by tokens far earlier. */
const MAX_BYTES = 1 << 20;

/** Not there, a folder, or a link to nowhere: the same as no such file. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

/** Reads files of the workspace at `root`. A link that leads outside counts as no file. */
export function workspaceReader(root: string): ReadWorkspaceFile {
  return async (path) => {
    try {
      const inside = await realpath(root);
      const target = await realpath(join(inside, path));
      if (!target.startsWith(inside.endsWith(sep) ? inside : `${inside}${sep}`)) return undefined;
      return await start(target);
    } catch (error) {
      if (error instanceof Error && 'code' in error && ABSENT.has(String(error.code))) return undefined;
      throw error;
    }
  };
}

async function start(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(stat.size, MAX_BYTES));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
