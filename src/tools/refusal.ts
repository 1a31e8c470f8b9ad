/**
 * Why a tool will not do what it was asked: a path outside the workspace, a device, nothing there. Thrown inside a tool
 * it becomes an error result. The message is all that the model is shown, without class name or cause.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** What the system said about a path, in a sentence; anything that is no system error passes through untouched. */
export function refusalOf(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  const words = Object.hasOwn(WORDS, error.code) ? WORDS[error.code] : undefined;
  return new Refusal(`${shown(path)}: ${words ?? error.code}`, { cause: error });
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder.',
  ENOTDIR: 'a part of this path is a file, not a folder.',
  EISDIR: 'this is a folder, not a file.',
  EACCES: 'permission denied.',
  EPERM: 'permission denied.',
  ELOOP: 'this is a symbolic link that leads nowhere, or was swapped while it was opened.',
  ENAMETOOLONG: 'this name is too long.',
  ENXIO: 'this is a device or pipe, not a file.',
  EEXIST: 'this exists already.',
  ENOSPC: 'the disk is full.',
  EROFS: 'the file system is read-only.',
};

/** A path in a message: quoted, control characters escaped, not endless. */
export function shown(path: string): string {
  const quoted = JSON.stringify(path).replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escaped);
  return quoted.length <= 300 ? quoted : `${quoted.slice(0, 300)}…"`;
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
