import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { Refusal, refusalOf, shown } from '../refusal.ts';
import { versionOf } from '../workspace/read-marks.ts';
import { type Place, requireInside, type Workspace } from '../workspace/workspace.ts';

/** What must hold of the file at the moment it is replaced. */
export interface Expectation {
  /** The version that is being replaced; `undefined`: there is no file yet. */
  readonly version: string | undefined;
  /** Permission bits to keep; absent: the process's default for new files. */
  readonly mode?: number;
  /** Owner to keep, as far as the process may. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Puts `bytes` in the place of a file, all or nothing: readers see the old content or the new one. The folder is held by
 * a descriptor, so a folder that is swapped for a link meanwhile leads nowhere.
 *
 * @returns the version that is there now.
 * @throws Refusal when the file is no longer what was expected.
 */
export async function atomicWrite(
  workspace: Workspace,
  place: Place,
  bytes: Uint8Array,
  expected: Expectation,
): Promise<string> {
  const folder = await openFolder(workspace, place);
  try {
    const inFolder = await anchored(folder, place);
    const target = inFolder(path.basename(place.real));
    const unfinished = inFolder(`.holdfast-${randomUUID()}`);
    try {
      await writeWhole(unfinished, bytes, expected);
      await requireVersion(target, expected.version, place);
      await rename(unfinished, target);
    } catch (error) {
      await unlink(unfinished).catch(() => undefined);
      throw error;
    }
    await folder.sync().catch(() => undefined); // Not every file system lets folders be synced.
    return versionOf(await lstat(target, { bigint: true }));
  } catch (error) {
    throw refusalOf(error, place.relative);
  } finally {
    await folder.close();
  }
}

async function openFolder(workspace: Workspace, place: Place): Promise<FileHandle> {
  const parent: Place = {
    real: path.dirname(place.real),
    relative: path.posix.dirname(place.relative),
    realRelative: path.posix.dirname(place.realRelative),
  };
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_DIRECTORY ?? 0);
  const folder = await open(parent.real, flags).catch((error) => Promise.reject(refusalOf(error, parent.relative)));
  try {
    await requireInside(workspace.root, folder, parent);
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Paths of names in the open folder: through the descriptor where the system has /proc, else by name. */
async function anchored(folder: FileHandle, place: Place): Promise<(name: string) => string> {
  const through = `/proc/self/fd/${folder.fd}`;
  const works = await lstat(`${through}/.`).then(
    () => true,
    () => false,
  );
  return (name) => path.join(works ? through : path.dirname(place.real), name);
}

async function writeWhole(file: string, bytes: Uint8Array, { mode, owner }: Expectation): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), mode ?? 0o666);
  try {
    await handle.writeFile(bytes);
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid).catch(() => undefined);
    // After the owner, whose change clears bits; and the umask does not apply to bits that the file had before.
    if (mode !== undefined) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function requireVersion(target: string, expected: string | undefined, place: Place): Promise<void> {
  const info: BigIntStats | undefined = await lstat(target, { bigint: true }).catch(() => undefined);
  const found = info === undefined ? undefined : versionOf(info);
  if (found === expected) return;
  throw new Refusal(
    expected === undefined
      ? `${shown(place.relative)}: somebody made this file meanwhile; nothing was written. Read it first.`
      : `${shown(place.relative)}: somebody changed this file meanwhile; nothing was written. Read it again.`,
  );
}
