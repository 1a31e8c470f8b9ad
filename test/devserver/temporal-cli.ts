import { join } from 'node:path';
import { examineBinary, type TemporalBinary } from '../../src/devserver/binary.ts';
import { goBinFolders, pathFolders, TEMPORAL } from '../../src/devserver/locations.ts';

/** The Temporal CLI of this machine; tests do not fetch one. */
export async function installedTemporal(): Promise<TemporalBinary> {
  for (const folder of [...pathFolders(process.env), ...goBinFolders(process.env)]) {
    const verdict = await examineBinary(join(folder, TEMPORAL));
    if (typeof verdict === 'object' && 'path' in verdict) return verdict;
  }
  throw new Error('these tests need a Temporal CLI on PATH or in the Go bin folder');
}
