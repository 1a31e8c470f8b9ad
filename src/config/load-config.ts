import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { createJiti } from 'jiti';
import * as zod from 'zod';
import { ERROR_HINTS, HoldfastError, isHoldfastErrorCode } from '../contract/errors.ts';
import { defineJsonTool, defineTool } from '../tools/define-tool.ts';
import { Refusal } from '../tools/refusal.ts';
import { defineAgent, defineConfig } from './define-config.ts';
import type { HoldfastConfig } from './settings.ts';
import { validConfig } from './validate-config.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of the config file, the first that exists counts. */
const FILE_NAMES = ['holdfast.config.ts', 'holdfast.config.mts', 'holdfast.config.js', 'holdfast.config.mjs'];

/** A folder's configuration, ready to be used. */
export interface LoadedConfig {
  /** Absolute path of the folder. */
  readonly folder: string;
  /** Absolute path of the config file, if there is one. */
  readonly file?: string;
  readonly config: HoldfastConfig;
  /** Absolute path of a SQLite file, or a `postgres://` URL. */
  readonly store: string;
  /** Absolute path of the folder that tools work on. */
  readonly workspace: string;
}

export interface LoadConfigOptions {
  readonly folder: string;
  readonly env: Environment;
}

/**
 * Loads `holdfast.config.{ts,mts,js,mjs}` of a folder; without one everything has its default. The file is code: it runs.
 *
 * In it `holdfast` and `zod` mean those of this installation, so a folder needs no packages of its own.
 *
 * @throws HoldfastError `ConfigInvalid`
 */
export async function loadConfig({ folder, env }: LoadConfigOptions): Promise<LoadedConfig> {
  const absolute = path.resolve(folder);
  const file = FILE_NAMES.map((name) => path.join(absolute, name)).find((candidate) => existsSync(candidate));
  const config = file === undefined ? {} : await evaluated(file);
  const workspace = path.resolve(absolute, config.workspace ?? '.');
  if (config.workspace !== undefined && statSync(workspace, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new HoldfastError('ConfigInvalid', `workspace: ${workspace} is not a folder`);
  }
  return {
    folder: absolute,
    ...(file === undefined ? {} : { file }),
    config,
    workspace,
    store: storeLocation(absolute, env.HOLDFAST_STORE || config.store),
  };
}

function storeLocation(folder: string, named: string | undefined): string {
  if (named === undefined) return path.join(folder, '.holdfast', 'holdfast.db');
  return /^postgres(ql)?:\/\//.test(named) ? named : path.resolve(folder, named);
}

/** What a config file may import without having it installed. */
const OWN_MODULES = {
  holdfast: { defineConfig, defineAgent, defineTool, defineJsonTool, Refusal },
  zod,
  'zod/v4': zod,
};

async function evaluated(file: string): Promise<HoldfastConfig> {
  const name = path.basename(file);
  // No caches: what is on disk now is what counts, and nothing is left in the folder.
  const jiti = createJiti(file, {
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    virtualModules: OWN_MODULES,
  });
  let exported: unknown;
  try {
    exported = await defaultExport(await jiti.import(file));
  } catch (error) {
    throw loadingFailed(file, error);
  }
  const value = typeof exported === 'function' ? undefined : exported;
  if (value === undefined) {
    throw new HoldfastError('ConfigInvalid', `${name}: its default export must be what defineConfig returns`);
  }
  return validConfig(value, name);
}

/** A module's default export; what a CommonJS file exports counts as such. A promise is waited for. */
async function defaultExport(module: unknown): Promise<unknown> {
  if (typeof module !== 'object' || module === null) return module;
  if ('default' in module) return module.default;
  return '__esModule' in module || Symbol.toStringTag in module ? undefined : module;
}

function loadingFailed(file: string, error: unknown): HoldfastError {
  const name = path.basename(file);
  // Ours already says what is wrong (defineConfig in the file), and may be another copy of the class.
  if (error instanceof Error && error.name === 'HoldfastError' && 'code' in error) {
    const code = String(error.code);
    if (isHoldfastErrorCode(code))
      return new HoldfastError(code, error.message, { cause: error, hint: ERROR_HINTS[code] });
  }
  const why = (error instanceof Error ? error.message : String(error)).split('\n')[0]?.trim();
  return new HoldfastError('ConfigInvalid', `${name} could not be loaded: ${why}${place(file, error)}`, {
    cause: error,
    hint: `Correct ${name}.`,
  });
}

/** ` (line 3, column 7)` where the error tells of a place in the file. */
function place(file: string, error: unknown): string {
  // A missing import is told from the compiled text, whose places mean nothing to people.
  const compiled = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
  const told = error instanceof Error && !compiled ? `${error.message}\n${error.stack ?? ''}` : '';
  const at = told.indexOf(`${file}:`);
  const [line, column] = at < 0 ? [] : told.slice(at + file.length + 1, at + file.length + 20).split(/\D/);
  return line && column ? ` (line ${line}, column ${column})` : '';
}
