/** One server-sent event. `data` is its data lines joined with line breaks; `event` is empty when it has no name. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

export interface SseDecoder {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): readonly SseEvent[];
  /** What stands unfinished at the end of the body, as an event of its own: many servers leave out the last blank line. */
  end(): readonly SseEvent[];
}

/**
 * Decodes server-sent events (WHATWG HTML §9.2.6) from bytes cut anywhere: within a character, between CR and LF.
 *
 * Comments, `id` and `retry` are passed over. Invalid UTF-8 becomes U+FFFD, a byte order mark goes.
 */
export function createSseDecoder(): SseDecoder {
  const text = new TextDecoder();
  let rest = '';
  let afterCr = false;
  let event = '';
  let data: string | undefined;

  const line = (from: string, out: SseEvent[]): void => {
    if (from === '') {
      if (data !== undefined) out.push({ event, data });
      data = undefined;
      event = '';
      return;
    }
    const colon = from.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? from : from.slice(0, colon);
    const start = colon + (from.charAt(colon + 1) === ' ' ? 2 : 1);
    const value = colon < 0 ? '' : from.slice(start);
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (name === 'event') event = value;
  };

  const lines = (chunk: string, out: SseEvent[]): void => {
    let buffer = rest === '' ? chunk : rest + chunk;
    if (afterCr && buffer.startsWith('\n')) buffer = buffer.slice(1);
    if (buffer !== '') afterCr = false;
    const hasCr = buffer.includes('\r');
    let at = 0;
    for (;;) {
      const lf = buffer.indexOf('\n', at);
      const cr = hasCr ? buffer.indexOf('\r', at) : -1;
      const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
      if (end < 0) break;
      line(buffer.slice(at, end), out);
      at = end + 1;
      if (end !== cr) continue;
      if (at === buffer.length) afterCr = true;
      else if (buffer.charAt(at) === '\n') at += 1;
    }
    rest = at === 0 ? buffer : buffer.slice(at);
  };

  return {
    push(bytes) {
      const out: SseEvent[] = [];
      lines(text.decode(bytes, { stream: true }), out);
      return out;
    },
    end() {
      const out: SseEvent[] = [];
      lines(text.decode(), out);
      if (rest !== '') line(rest, out);
      rest = '';
      line('', out);
      return out;
    },
  };
}
