import { normalize } from '../normalize.ts';
import type { Repair } from '../repair.ts';
import { type ViolationCode, validate } from '../validate.ts';
import type { Loss } from './context.ts';
import type { FileFormat } from './detect.ts';
import { type FilePosition, readFile } from './import-file.ts';

/** A broken rule at its place in the file. `unreadable`: what stands there is no message or entry at all. */
interface FileViolation {
  readonly code: ViolationCode | 'unreadable';
  readonly message: string;
  readonly position: FilePosition;
}

/** What an import would do at that place. */
interface FileRepair {
  readonly repair: Repair;
  readonly position: FilePosition;
}

export interface FileReport {
  readonly format: FileFormat;
  readonly items: number;
  readonly violations: readonly FileViolation[];
  readonly repairs: readonly FileRepair[];
  /** What the format of the file holds and a transcript of ours would not. */
  readonly losses: readonly Loss[];
}

/** Validates a file of any known format and tells what is wrong, where, and how it would be mended. Changes nothing. */
export function checkFile(text: string): FileReport {
  const { format, items, positions, seqs, problems, losses } = readFile(text);
  const at = (index: number): FilePosition => positions[index] ?? { index };
  const unreadable = problems.map(
    ({ message, ...position }): FileViolation => ({ code: 'unreadable', message, position }),
  );
  const broken = validate(items, { tail: 'closed', ...(seqs === undefined ? {} : { seqs }) });
  const violations = broken.map(({ code, message, index }): FileViolation => ({ code, message, position: at(index) }));
  return {
    format,
    items: items.length,
    violations: [...unreadable, ...violations].sort((left, right) => left.position.index - right.position.index),
    repairs: normalize(items).repairs.map((repair) => ({ repair, position: at(repair.index) })),
    losses,
  };
}
