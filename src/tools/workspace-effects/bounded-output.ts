/** Bytes kept of the beginning and of the end of what a command prints. */
const HEAD_BYTES = 512 * 1024;
const TAIL_BYTES = 512 * 1024;

/** Collects output of any length in bounded memory: its beginning and its end. */
export interface BoundedOutput {
  add(chunk: Buffer): void;
  /** The text, with a note where bytes are missing. Bytes that are no UTF-8 become U+FFFD. */
  text(): string;
}

export function createBoundedOutput(): BoundedOutput {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let dropped = 0;
  return {
    add(chunk) {
      const room = HEAD_BYTES - headBytes;
      if (room > 0) {
        const first = chunk.subarray(0, room);
        head.push(first);
        headBytes += first.length;
      }
      if (chunk.length <= room) return;
      tail.push(chunk.subarray(Math.max(room, 0)));
      tailBytes += chunk.length - Math.max(room, 0);
      // Joined only when it has doubled: each byte is copied a few times at most.
      if (tailBytes <= 2 * TAIL_BYTES) return;
      const joined = Buffer.concat(tail);
      tail = [Buffer.from(joined.subarray(joined.length - TAIL_BYTES))];
      dropped += tailBytes - TAIL_BYTES;
      tailBytes = TAIL_BYTES;
    },
    text() {
      const end = Buffer.concat(tail);
      const last = end.subarray(Math.max(0, end.length - TAIL_BYTES));
      const missing = dropped + end.length - last.length;
      if (missing === 0) return Buffer.concat([...head, last]).toString('utf8');
      return `${Buffer.concat(head).toString('utf8')}\n[… ${missing} bytes were cut …]\n${last.toString('utf8')}`;
    },
  };
}
