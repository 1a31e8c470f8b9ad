import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '../config/load-config.ts';
import type { HoldfastConfig } from '../config/settings.ts';
import { HoldfastError } from '../contract/errors.ts';

/** Where a command works. */
export interface Settings {
  /** Absolute path of the workspace. */
  readonly folder: string;
  /** Its state: `.holdfast`. */
  readonly stateDir: string;
  /** Path of a SQLite file or a `postgres://` URL. */
  readonly store: string;
  readonly config: HoldfastConfig;
}

export interface GlobalOptions {
  readonly folder?: string;
  readonly debug?: boolean;
}

/**
 * Settings of the folder that `--folder`, `HOLDFAST_FOLDER` or the current folder name, with its config file.
 *
 * @throws HoldfastError `InvalidInput` when there is no such folder, `ConfigInvalid`.
 */
export async function settingsOf({ folder: named }: GlobalOptions): Promise<Settings> {
  const folder = resolve(named ?? (process.env.HOLDFAST_FOLDER || process.cwd()));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new HoldfastError('InvalidInput', `${folder} is not a folder`, { hint: 'Name the workspace with --folder.' });
  }
  const { config, store } = await loadConfig({ folder, env: process.env });
  return { folder, stateDir: join(folder, '.holdfast'), store, config };
}

/** Whether there is a store to read; opening one would make it. A server is asked by opening it. */
export function storeExists({ store }: Settings): boolean {
  return /^postgres(ql)?:\/\//.test(store) || existsSync(store);
}
