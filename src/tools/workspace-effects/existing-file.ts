import { Refusal, shown } from '../refusal.ts';
import { versionOf } from '../workspace/read-marks.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';

/** Bytes of a file that is edited or replaced as a whole. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A file as it is right now. */
export interface ExistingFile {
  readonly bytes: Buffer;
  readonly version: string;
  /** Permission bits. */
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** Reads a whole file with its version, both of the same moment. @throws Refusal */
export async function existingFile(workspace: Workspace, place: Place): Promise<ExistingFile> {
  const file = await workspace.openFile(place);
  try {
    const before = await file.stat({ bigint: true });
    if (before.size > MAX_BYTES)
      throw new Refusal(`${shown(place.relative)}: this file is larger than ${MAX_BYTES} bytes.`);
    const bytes = await file.readFile();
    const after = await file.stat({ bigint: true });
    const version = versionOf(after);
    if (version !== versionOf(before))
      throw new Refusal(`${shown(place.relative)}: this file is being written to; try again.`);
    const owner = { uid: Number(after.uid), gid: Number(after.gid) };
    return { bytes, version, mode: Number(after.mode & 0o7777n), owner };
  } finally {
    await file.close();
  }
}
