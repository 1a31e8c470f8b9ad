import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The environment, as far as it is given to us. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const TEMPORAL: string = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** Folders of PATH, in order. */
export function pathFolders(env: Environment): readonly string[] {
  return (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** The user's cache of holdfast: `$XDG_CACHE_HOME/holdfast`, else `~/.cache/holdfast`. */
export function userCacheDir(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(homeOf(env), '.cache'), 'holdfast');
}

/** Where `go install` puts programs: `$GOBIN`, `$GOPATH/bin` (`go help install`), `~/go/bin`. */
export function goBinFolders(env: Environment): readonly string[] {
  const fromGoPath = (env.GOPATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [
    ...(env.GOBIN ? [env.GOBIN] : []),
    ...[...fromGoPath, join(homeOf(env), 'go')].map((folder) => join(folder, 'bin')),
  ];
}

/** An empty HOME (some CI) falls back to what the system knows of the user. */
export function homeOf(env: Environment): string {
  return env.HOME || env.USERPROFILE || homedir();
}
