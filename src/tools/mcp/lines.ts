/** Takes lines out of chunks of bytes. */
export interface LineReader {
  /** Whether `chunk` was taken: `false` once a line is longer than allowed, and from then on. */
  push(chunk: Buffer): boolean;
}

/** Calls `onLine` with each whole line, without its end. A line is put together once, whatever the number of its chunks. */
export function lineReader(maxBytes: number, onLine: (line: string) => void): LineReader {
  let parts: Buffer[] = [];
  let held = 0;
  let over = false;
  return {
    push(chunk) {
      let rest = chunk;
      for (let end = rest.indexOf(10); end >= 0 && !over; end = rest.indexOf(10)) {
        over = held + end > maxBytes;
        if (over) break;
        const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8');
        parts = [];
        held = 0;
        rest = rest.subarray(end + 1);
        onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      }
      over ||= held + rest.length > maxBytes;
      if (over) {
        parts = [];
        return false;
      }
      if (rest.length > 0) parts.push(rest);
      held += rest.length;
      return true;
    },
  };
}
