import { createHash, randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Which version of a file a session has last seen, so that an edit does not undo what somebody else changed meanwhile.
 *
 * Losing marks is harmless: the file counts as not seen.
 */
export interface ReadMarks {
  /** Notes that the session knows this version. Never rejects. */
  remember(sessionId: string, realPath: string, version: string): Promise<void>;
  recall(sessionId: string, realPath: string): Promise<string | undefined>;
}

/** Tells versions of a file apart: another file, another size, another time of change. */
export function versionOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}`;
}

/** Marks in small files below `folder`: all workers that share a workspace must see the same ones. */
export function createReadMarks(folder: string): ReadMarks {
  const fileOf = (sessionId: string, realPath: string): string =>
    path.join(folder, digest(sessionId).slice(0, 16), digest(realPath).slice(0, 32));
  return {
    remember: async (sessionId, realPath, version) => {
      const file = fileOf(sessionId, realPath);
      const unfinished = `${file}.${randomUUID()}`;
      try {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(unfinished, version, { mode: 0o600 });
        await rename(unfinished, file);
      } catch {
        // A full disk or a read-only folder: the file then counts as not seen.
      }
    },
    recall: (sessionId, realPath) => readFile(fileOf(sessionId, realPath), 'utf8').catch(() => undefined),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
