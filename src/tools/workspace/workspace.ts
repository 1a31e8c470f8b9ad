import type { Dirent } from 'node:fs';
import { constants, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Refusal, refusalOf, shown } from '../refusal.ts';

/** A place in the workspace that a path was found to mean. */
export interface Place {
  /** Absolute, symbolic links resolved, inside the root. */
  readonly real: string;
  /** As people and models write it: from the root, with `/`, `.` for the root itself; links not resolved. */
  readonly relative: string;
  /** From the root with links resolved: what ignore rules are asked about. */
  readonly realRelative: string;
}

/**
 * The folder that tools may touch, and nothing outside it.
 *
 * A path is checked three times: by its text, by what its links resolve to, and, once open, by where the descriptor
 * really points. A link that is swapped in between therefore gains nothing. (Hard links cannot be told apart from files.)
 */
export interface Workspace {
  /** Absolute, symbolic links resolved. */
  readonly root: string;
  /** Resolves an existing path. @throws Refusal */
  locate(given: string): Promise<Place>;
  /** Like {@link locate} for a path whose last part need not exist; its folder must. @throws Refusal */
  locateNew(given: string): Promise<Place>;
  /** Opens a regular file for reading; never waits on a pipe or device. The caller closes it. @throws Refusal */
  openFile(place: Place): Promise<FileHandle>;
  /** Entries of a folder sorted by name, byte order. @throws Refusal */
  entries(place: Place): Promise<Dirent[]>;
}

/** @throws Refusal when `root` is no folder. */
export function createWorkspace(root: string): Workspace {
  const real = realRoot(root);
  const locate = async (given: string): Promise<Place> => {
    const absolute = lexical(real, root, given);
    const resolved = await realpath(absolute).catch((error) => Promise.reject(refusalOf(error, given)));
    return placeOf(real, absolute, resolved, given);
  };
  return {
    root: real,
    locate,
    locateNew: async (given) => {
      const absolute = lexical(real, root, given);
      if (absolute === real) throw new Refusal(`${shown(given)}: this is the workspace itself.`);
      const folder = await realpath(path.dirname(absolute)).catch((error) => Promise.reject(refusalOf(error, given)));
      return placeOf(real, absolute, path.join(folder, path.basename(absolute)), given);
    },
    openFile: (place) => openFile(real, place),
    entries: (place) => entries(real, place),
  };
}

function realRoot(root: string): string {
  try {
    const real = realpathSync(root);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw refusalOf(error, root);
  }
  throw new Refusal(`${shown(root)}: the workspace must be a folder.`);
}

/** The absolute path that the text means, links not looked at. `named`: the root as the user calls it, perhaps through a link. */
function lexical(root: string, named: string, given: string): string {
  if (given.includes('\0')) throw new Refusal(`${shown(given)}: a path holds no NUL character.`);
  const alias = path.resolve(named);
  const plain = path.isAbsolute(given) && isInside(alias, path.resolve(given)) ? path.relative(alias, given) : given;
  const absolute = path.resolve(root, plain === '' ? '.' : plain);
  if (!isInside(root, absolute)) throw outside(given);
  return absolute;
}

function placeOf(root: string, absolute: string, real: string, given: string): Place {
  if (!isInside(root, real)) throw outside(given);
  return { real, relative: fromRoot(root, absolute), realRelative: fromRoot(root, real) };
}

function outside(given: string): Refusal {
  return new Refusal(`${shown(given)}: this path leads outside the workspace; only paths inside it can be used.`);
}

export function isInside(root: string, absolute: string): boolean {
  return absolute === root || absolute.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function fromRoot(root: string, absolute: string): string {
  const relative = path.relative(root, absolute);
  return relative === '' ? '.' : relative.split(path.sep).join('/');
}

async function openFile(root: string, place: Place): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(place.real, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)).catch((error) =>
    Promise.reject(refusalOf(error, place.relative)),
  );
  try {
    const info = await handle.stat();
    if (info.isDirectory()) throw new Refusal(`${shown(place.relative)}: this is a folder, not a file.`);
    if (!info.isFile()) throw new Refusal(`${shown(place.relative)}: this is a device, pipe or socket, not a file.`);
    await requireInside(root, handle, place);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Where the descriptor points: a folder on the way may have become a link after the path was resolved. */
export async function requireInside(root: string, handle: FileHandle, place: Place): Promise<void> {
  const target = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (target !== undefined) {
    if (!isInside(root, target)) throw outside(place.relative);
    return;
  }
  // No /proc (macOS, Windows): the path must still resolve to the very file that is open.
  const again = await realpath(place.real).catch((error) => Promise.reject(refusalOf(error, place.relative)));
  const [opened, found] = await Promise.all([handle.stat({ bigint: true }), stat(again, { bigint: true })]);
  const same = opened.ino === found.ino && opened.dev === found.dev;
  if (!isInside(root, again) || !same) throw outside(place.relative);
}

async function entries(root: string, place: Place): Promise<Dirent[]> {
  const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;
  const flags = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_DIRECTORY ?? 0) | (O_NONBLOCK ?? 0);
  const handle = await open(place.real, flags).catch((error) => Promise.reject(refusalOf(error, place.relative)));
  try {
    await requireInside(root, handle, place);
    const opened = `/proc/self/fd/${handle.fd}`;
    const listed = await readdir(opened, { withFileTypes: true })
      .catch(() => readdir(place.real, { withFileTypes: true }))
      .catch((error) => Promise.reject(refusalOf(error, place.relative)));
    return listed.sort((a, b) => byName(a.name, b.name));
  } finally {
    await handle.close();
  }
}

/** Code unit order: the same on every machine, unlike `localeCompare`. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
