import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HoldfastError } from '../contract/errors.ts';

/** Where a command works. */
export interface Settings {
  /** Absolute path of the workspace. */
  readonly folder: string;
  /** Its state: `.holdfast`. */
  readonly stateDir: string;
  /** Path of a SQLite file or a `postgres://` URL. */
  readonly store: string;
  readonly debug: boolean;
}

export interface GlobalOptions {
  readonly folder?: string;
  readonly debug?: boolean;
}

/** `--folder`, else `HOLDFAST_FOLDER`, else the current folder; the store by `HOLDFAST_STORE`, else in the folder's state. */
export function settingsOf({ folder: named, debug }: GlobalOptions): Settings {
  const folder = resolve(named ?? process.env.HOLDFAST_FOLDER ?? process.cwd());
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new HoldfastError('InvalidInput', `${folder} is not a folder`, { hint: 'Name the workspace with --folder.' });
  }
  const stateDir = join(folder, '.holdfast');
  const store = process.env.HOLDFAST_STORE || join(stateDir, 'holdfast.db');
  return {
    folder,
    stateDir,
    store: /^postgres(ql)?:\/\//.test(store) ? store : resolve(folder, store),
    debug: debug === true || process.env.HOLDFAST_DEBUG === '1',
  };
}

/** Whether there is a store to read; opening one would make it. A server is asked by opening it. */
export function storeExists({ store }: Settings): boolean {
  return /^postgres(ql)?:\/\//.test(store) || existsSync(store);
}
