import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { mediaTypeOf } from '../media-type.ts';
import { Refusal, shown } from '../refusal.ts';
import type { Tool, ToolOutput } from '../tool.ts';
import { type ReadMarks, versionOf } from './read-marks.ts';
import type { ReadPolicy } from './read-policy.ts';
import { isBinary, lineBatches, MAX_LINE_CHARS } from './text-lines.ts';
import type { Workspace } from './workspace.ts';

/** Lines given at once; the note at the end tells how to read on. */
const MAX_LINES = 2000;
/** Characters given at once: what tool outputs are cut to anyway (10,000 tokens), but at a line and with a way to go on. */
const MAX_CHARS = 28_000;
/** Bytes of an image that models take. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const input = z.object({
  path: z.string().describe('Path from the workspace root.'),
  startLine: z.number().int().min(1).optional().describe('First line, from 1. Default 1.'),
  endLine: z.number().int().min(1).optional().describe('Last line, included. Default: to the end.'),
});

/** The tool `read_file`: numbered lines of a text file, or an image. */
export function createReadFile(workspace: Workspace, policy: ReadPolicy, marks: ReadMarks | undefined): Tool {
  return defineTool({
    name: 'read_file',
    description: `Reads a text file of the workspace; each line is given as its number, a tab and its text. At most ${MAX_LINES} lines at once.`,
    input,
    annotations: { title: 'Read file', readOnlyHint: true, openWorldHint: false },
    quick: true,
    resultSemantic: 'factual',
    label: ({ path, startLine, endLine }) =>
      `read_file ${path}${startLine === undefined && endLine === undefined ? '' : `:${startLine ?? 1}-${endLine ?? ''}`}`,
    execute: async ({ path, startLine = 1, endLine = Number.MAX_SAFE_INTEGER }, { signal, sessionId }) => {
      if (endLine < startLine) throw new Refusal(`endLine ${endLine} is before startLine ${startLine}.`);
      const place = await workspace.locate(path);
      await policy.requireReadable(place, false);
      const file = await workspace.openFile(place);
      try {
        if (await isBinary(file)) return await binary(file, path);
        // Before the content: what changes while it is read has changed since.
        const version = versionOf(await file.stat({ bigint: true }));
        const text = await numbered(file, { path, startLine, endLine }, signal);
        await marks?.remember(sessionId, place.real, version);
        return text;
      } finally {
        await file.close();
      }
    },
  });
}

interface Range {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

async function numbered(file: FileHandle, { path, startLine, endLine }: Range, signal: AbortSignal): Promise<string> {
  const rows: string[] = [];
  let [line, chars, last] = [0, 0, 0];
  let full = false;
  for await (const batch of lineBatches(file, signal)) {
    for (const text of batch) {
      line += 1;
      if (line < startLine || line > endLine || full) continue;
      const row = `${line}\t${text}${text.length >= MAX_LINE_CHARS ? ' […line cut]' : ''}`;
      full = rows.length >= MAX_LINES || (rows.length > 0 && chars + row.length > MAX_CHARS);
      if (full) continue;
      rows.push(row);
      chars += row.length + 1;
      last = line;
    }
    // Reading on only to count lines is worth it for ordinary files.
    if ((full || line > endLine) && line > 100_000) return [...rows, note(last, `more than ${line}`)].join('\n');
  }
  if (line === 0) return `[${shown(path)} is empty]`;
  if (rows.length === 0) throw new Refusal(`${shown(path)} has ${line} lines; there is no line ${startLine}.`);
  return last < line ? [...rows, note(last, String(line))].join('\n') : rows.join('\n');
}

function note(last: number, total: string): string {
  return `[lines up to ${last} of ${total}; read on with startLine ${last + 1}]`;
}

async function binary(file: FileHandle, path: string): Promise<ToolOutput> {
  const { size } = await file.stat();
  const head = Buffer.alloc(16);
  await file.read(head, 0, head.length, 0);
  const mediaType = mediaTypeOf(head);
  if (!mediaType.startsWith('image/') || size > MAX_IMAGE_BYTES) {
    throw new Refusal(`${shown(path)} is a binary file (${mediaType}, ${size} bytes) and cannot be shown as text.`);
  }
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const base64 = bytes.toString('base64', 0, bytesRead);
  return { content: [{ type: 'image', mediaType, base64, name: path }] };
}
