import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
/** Bytes at the start of a file that tell text from binary. */
const SNIFF_BYTES = 8192;
/** Characters of one line that are kept; the rest of a longer one (minified code) is dropped and counted as cut. */
export const MAX_LINE_CHARS: number = 64 * 1024;

/** A NUL in the first bytes, as git has it. UTF-16 counts as binary. */
export async function isBinary(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
  return buffer.subarray(0, bytesRead).includes(0);
}

/**
 * Lines of an open file in batches, without their line ends, read piece by piece: a file of any size takes little
 * memory. Bytes that are no UTF-8 become U+FFFD. A byte order mark goes.
 *
 * @throws `signal.reason` once aborted.
 */
export async function* lineBatches(file: FileHandle, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = '';
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    position += bytesRead;
    const text = rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: bytesRead > 0 });
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) rest = rest.slice(0, MAX_LINE_CHARS);
    if (lines.length > 0) yield lines.map(withoutEnd);
    if (bytesRead === 0) break;
  }
  if (rest !== '') yield [withoutEnd(rest)];
}

function withoutEnd(line: string): string {
  const cut = line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line;
  return cut.endsWith('\r') ? cut.slice(0, -1) : cut;
}
