import { join } from 'node:path';
import { examineBinary, type TemporalBinary } from './binary.ts';
import { downloadTemporal } from './download.ts';
import { DevServerError } from './errors.ts';
import { goInstallTemporal } from './go-install.ts';
import { type Environment, goBinFolders, pathFolders, TEMPORAL, userCacheDir } from './locations.ts';
import type { Narrator } from './narrator.ts';

/** Release of the Temporal SDK that this project pins; its matching CLI is asked for. */
const SDK_VERSION = '1.24.0';

export interface LocateOptions {
  readonly env: Environment;
  /** The workspace's own cache, such as `.holdfast/bin`. */
  readonly cacheDir: string;
  readonly say: Narrator['say'];
}

export interface ResolveOptions extends Narrator, LocateOptions {
  /** Stands in for Temporal's download service. */
  readonly downloadService?: string;
  readonly downloadMinBytes?: number;
}

/**
 * Finds or gets a Temporal CLI, which holds the dev server: on PATH, in a cache, by the SDK's download, by `go install`.
 *
 * What is fetched goes to the user's cache, so the next folder finds it. Each step is told in one line.
 *
 * @throws DevServerError `no_binary`, naming what was tried and how to mend it.
 */
export async function resolveDevServer(options: ResolveOptions): Promise<TemporalBinary> {
  const { env, say } = options;
  const found = await locateTemporal(options);
  if (found !== undefined) return found;
  const userBin = join(userCacheDir(env), 'bin');

  const failures: string[] = [];
  const fetchers = [
    { what: "the SDK's download", get: () => downloaded(options, userBin) },
    { what: 'go install', get: () => goInstallTemporal({ ...options, into: userBin }) },
  ];
  for (const { what, get } of fetchers) {
    say(`No Temporal CLI here; trying ${what}.`);
    try {
      const binary = await examineBinary(await get());
      if (typeof binary === 'object' && 'path' in binary) {
        say(`Temporal CLI ${binary.version} by ${what}: ${binary.path}`);
        return binary;
      }
      failures.push(`${what}: what came does not run here`);
    } catch (error) {
      failures.push(`${what}: ${reason(error)}`);
    }
    say(`That did not work (${failures.at(-1)}).`);
  }
  throw new DevServerError('no_binary', `No Temporal server could be found or fetched (${failures.join('; ')}).`, MEND);
}

/** The Temporal CLI that is on this machine already: on PATH, else in a cache. */
export async function locateTemporal({ env, cacheDir, say }: LocateOptions): Promise<TemporalBinary | undefined> {
  const onPath = await firstIn(pathFolders(env), say);
  if (onPath !== undefined) {
    say(`Temporal CLI ${onPath.version} on PATH: ${onPath.path}`);
    return onPath;
  }
  const cached = await firstIn([cacheDir, join(userCacheDir(env), 'bin'), ...goBinFolders(env)], say);
  if (cached === undefined) return undefined;
  say(`No temporal on PATH; using the cached Temporal CLI ${cached.version}: ${cached.path}`);
  return cached;
}

const MEND = [
  'Any one of these mends it:',
  '  - install the Temporal CLI, so that `temporal` is on PATH: https://docs.temporal.io/cli#install',
  '  - set TEMPORAL_ADDRESS to a Temporal server that runs already',
  '  - install Go 1.24 or later: it builds the CLI in two to three minutes',
  '  - allow connections to temporal.download and github.com, and try again',
].join('\n');

function downloaded(options: ResolveOptions, into: string): Promise<string> {
  return downloadTemporal({
    say: options.say,
    progress: options.progress,
    into,
    sdkVersion: SDK_VERSION,
    ...(options.downloadService === undefined ? {} : { service: options.downloadService }),
    ...(options.downloadMinBytes === undefined ? {} : { minBytes: options.downloadMinBytes }),
  });
}

async function firstIn(folders: readonly string[], say: Narrator['say']): Promise<TemporalBinary | undefined> {
  for (const folder of folders) {
    const path = join(folder, TEMPORAL);
    const verdict = await examineBinary(path);
    if (verdict === 'absent') continue;
    if (verdict === 'broken') say(`Passing over ${path}: it does not run.`);
    else if ('tooOld' in verdict) say(`Passing over ${path}: version ${verdict.tooOld} is too old.`);
    else return verdict;
  }
  return undefined;
}

/** One line of why: for a failed `fetch`, what stands behind "fetch failed". */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOENT') return 'go is not installed';
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message;
}
