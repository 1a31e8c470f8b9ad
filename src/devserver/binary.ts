import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';

/** A Temporal CLI that runs here and is new enough. */
export interface TemporalBinary {
  readonly path: string;
  /** Of the CLI, such as `1.5.1`. */
  readonly version: string;
}

/** Why a file is not one: it is not there, it does not run, or it is too old. */
export type BinaryVerdict = TemporalBinary | 'absent' | 'broken' | { readonly tooOld: string };

/** The first CLI whose server has update-with-start, on which messages rest, without a setting. */
const MIN_VERSION: readonly [number, number] = [1, 3];

/** Asks the file for its version, which also proves that it runs on this machine. */
export async function examineBinary(path: string): Promise<BinaryVerdict> {
  try {
    await access(path, constants.X_OK);
  } catch {
    return 'absent';
  }
  const output = await new Promise<string>((resolve) => {
    execFile(path, ['--version'], { timeout: 15_000 }, (_error, stdout) => resolve(stdout));
  });
  const match = /temporal version v?((\d+)\.(\d+)\S*)/.exec(output);
  if (match === null) return 'broken';
  const [, version = '', major, minor] = match;
  const tooOld = Number(major) < MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) < MIN_VERSION[1]);
  // Builds from source say 0.0.0; they are as new as their source.
  return tooOld && !version.startsWith('0.0.0') ? { tooOld: version } : { path, version };
}
