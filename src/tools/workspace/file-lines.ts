import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Refusal } from '../refusal.ts';
import { isBinary, lineBatches, MAX_LINE_CHARS } from './text-lines.ts';
import type { Workspace } from './workspace.ts';

/** Consecutive lines of one file. */
export interface Lines {
  /** From the root. */
  readonly file: string;
  /** Number of the first line, from 1. */
  readonly first: number;
  readonly lines: readonly string[];
}

/** Files read at once. */
const AT_ONCE = 16;
/** Bytes of a file that is read whole; larger ones are streamed, one at a time. */
const SMALL_BYTES = 256 * 1024;
/** Characters after which a group is handed on. */
const GROUP_CHARS = 256 * 1024;

/**
 * The lines of text files in the order given, gathered into groups that are worth handing to another thread. Binary
 * files, and files that cannot be read (gone meanwhile, no permission), have none.
 *
 * @param files from the root, as a walk that follows no links found them.
 * @throws `signal.reason` once aborted.
 */
export async function* fileLines(
  workspace: Workspace,
  files: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<readonly Lines[]> {
  // One for each place in a round, used again in the next.
  const buffers = Array.from({ length: Math.min(AT_ONCE, files.length) }, () => Buffer.allocUnsafe(SMALL_BYTES + 1));
  for (let i = 0; i < files.length; i += AT_ONCE) {
    signal.throwIfAborted();
    const loaded = await Promise.all(buffers.map((buffer, slot) => loadSmall(workspace, files[i + slot], buffer)));
    let group: Lines[] = [];
    let chars = 0;
    for (const one of loaded) {
      if (one === undefined) continue;
      if ('large' in one) {
        if (group.length > 0) yield group;
        group = [];
        chars = 0;
        yield* streamed(workspace, one.large, signal);
        continue;
      }
      group.push(one);
      chars += one.chars;
      if (chars < GROUP_CHARS) continue;
      yield group;
      group = [];
      chars = 0;
    }
    if (group.length > 0) yield group;
  }
}

type Loaded = (Lines & { readonly chars: number }) | { readonly large: string };

async function loadSmall(workspace: Workspace, file: string | undefined, buffer: Buffer): Promise<Loaded | undefined> {
  if (file === undefined) return undefined;
  const handle = await opened(workspace, file);
  if (handle === undefined) return undefined;
  try {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > SMALL_BYTES) return { large: file };
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.subarray(0, 8192).includes(0)) return undefined;
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    return { file, first: 1, lines: text.split('\n').map(withoutEnd), chars: text.length };
  } finally {
    await handle.close();
  }
}

function withoutEnd(line: string): string {
  const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
  return whole.length > MAX_LINE_CHARS ? whole.slice(0, MAX_LINE_CHARS) : whole;
}

async function* streamed(workspace: Workspace, file: string, signal: AbortSignal): AsyncGenerator<readonly Lines[]> {
  const handle = await opened(workspace, file);
  if (handle === undefined) return;
  try {
    if (await isBinary(handle)) return;
    let first = 1;
    for await (const lines of lineBatches(handle, signal)) {
      yield [{ file, first, lines }];
      first += lines.length;
    }
  } finally {
    await handle.close();
  }
}

/** Opens without resolving links first: none were followed to find the file, and where the descriptor points is checked. */
function opened(workspace: Workspace, file: string): Promise<FileHandle | undefined> {
  return workspace
    .openFile({ real: path.join(workspace.root, file), relative: file, realRelative: file })
    .catch((error) => (error instanceof Refusal ? undefined : Promise.reject(error)));
}
