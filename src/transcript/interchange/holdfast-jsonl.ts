import type { AgentItem, TranscriptEntry } from '../items.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { itemProblem } from './item-shape.ts';

/**
 * The version of the file.
 *
 * - 1: first version. A header line, then one entry a line.
 */
export const TRANSCRIPT_FILE_VERSION = 1;

/** First line of a file. */
interface TranscriptHeader {
  readonly holdfast: 'transcript';
  readonly version: 1;
  readonly sessionId?: string;
  /** System prompt of the latest run, for reading only. */
  readonly system?: string;
}

/** Something in a file that cannot be read. Lines are counted from 1. */
interface LineProblem {
  readonly line: number;
  readonly message: string;
}

export interface ReadTranscript {
  /** Absent when the first line is no header that we can read. */
  readonly header?: TranscriptHeader;
  readonly entries: readonly TranscriptEntry[];
  /** Line of each entry. */
  readonly lines: readonly number[];
  readonly problems: readonly LineProblem[];
}

/** A session as text: lossless, one entry a line, a line break at the end. */
export function writeTranscript(
  entries: readonly TranscriptEntry[],
  about: { readonly sessionId?: string; readonly system?: string } = {},
): string {
  return `${transcriptHeader(about)}${transcriptLines(entries)}`;
}

/** The file's first line. */
export function transcriptHeader(about: { readonly sessionId?: string; readonly system?: string } = {}): string {
  const header: TranscriptHeader = { holdfast: 'transcript', version: TRANSCRIPT_FILE_VERSION, ...about };
  return `${JSON.stringify(header)}\n`;
}

/** Further lines of the file: a long session is written page by page. */
export function transcriptLines(entries: readonly TranscriptEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

/** Whether a first line is the header of such a file, of whatever version. */
export function isTranscriptHeader(value: unknown): value is JsonObject {
  return isJsonObject(value) && value.holdfast === 'transcript';
}

/** Reads such a file. Lines that cannot be read (the last one may be cut off) are told and left out; the rest stands. */
export function readTranscript(text: string): ReadTranscript {
  const problems: LineProblem[] = [];
  const entries: TranscriptEntry[] = [];
  const lines: number[] = [];
  let header: TranscriptHeader | undefined;
  text.split('\n').forEach((content, at) => {
    const line = at + 1;
    if (content.trim() === '') return;
    const value = parsed(content);
    if (header === undefined && problems.length === 0 && entries.length === 0) {
      if (!isTranscriptHeader(value)) problems.push({ line, message: 'the first line is no transcript header' });
      else if (value.version !== TRANSCRIPT_FILE_VERSION)
        problems.push({ line, message: `files of version ${String(value.version)} cannot be read` });
      else header = value as unknown as TranscriptHeader;
      return;
    }
    const problem = entryProblem(value);
    if (problem === undefined) {
      entries.push(value as unknown as TranscriptEntry);
      lines.push(line);
    } else problems.push({ line, message: problem });
  });
  return { ...(header === undefined ? {} : { header }), entries, lines, problems };
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function entryProblem(value: Json | undefined): string | undefined {
  if (value === undefined) return 'is no JSON';
  if (!isJsonObject(value)) return 'is no entry';
  if (typeof value.seq !== 'number' || typeof value.runId !== 'string' || typeof value.step !== 'number') {
    return 'is no entry: it needs seq, runId, step and item';
  }
  return itemProblem(value.item);
}

/** Entries of a transcript that has none yet: numbered from 1, one run. */
export function entriesOf(items: readonly AgentItem[], runId: string): readonly TranscriptEntry[] {
  return items.map((item, at) => ({ seq: at + 1, runId, step: 0, item }));
}
