import { jsonEnd } from './call-arguments.ts';
import { ProviderError } from './errors.ts';
import { redact } from './redact.ts';

/** End of a chat stream, in place of JSON. */
export const DONE = '[DONE]';

/** Words that gateways send as data to keep a connection alive. */
const HEARTBEAT = /^:?\s*(?:ping|pong|heartbeat|keep-?alive|openrouter processing)?\s*$/i;

/**
 * The JSON values in the data of one server-sent event; {@link DONE} stands for the end mark. Usually one.
 *
 * Takes what servers write by mistake and nothing is lost by: several values in one event, one a line or glued by a second
 * `data:`; and a value that was begun, broken off and written again whole. `null` and heartbeats are nothing.
 *
 * @throws ProviderError `protocol` for anything else that is no JSON.
 */
export function parseFrame(data: string): readonly unknown[] {
  const trimmed = data.trim();
  if (trimmed.startsWith(DONE)) return [DONE];
  if (HEARTBEAT.test(trimmed)) return [];
  const whole = tryParse(trimmed);
  if (whole !== undefined) return whole.value === null ? [] : [whole.value];
  const pieces = trimmed.split(/data: ?(?=[[{])|\n(?=[[{])/).map((piece) => piece.trim());
  return pieces.flatMap((piece, index) => {
    if (piece === '') return [];
    if (piece.startsWith(DONE)) return [DONE];
    const parsed = tryParse(piece);
    if (parsed !== undefined) return [parsed.value];
    if (index + 1 < pieces.length && pieces[index + 1]?.startsWith(piece)) return [];
    throw notJson(trimmed);
  });
}

/**
 * The JSON values of a body that is no event stream: one, one a line, or one with an end mark glued on.
 *
 * @throws ProviderError `incomplete_stream` when the last one is cut off, `protocol` for anything else that is no JSON.
 */
export function parseJsonBody(body: string): readonly unknown[] {
  const whole = tryParse(body);
  if (whole !== undefined) return [whole.value];
  const values: unknown[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*(?:data:\s*)?/.exec(body.slice(at, at + 64))?.[0].length ?? 0;
    if (at >= body.length) return values;
    if (body.startsWith(DONE, at)) {
      values.push(DONE);
      at += DONE.length;
      continue;
    }
    if (body.charAt(at) !== '{') throw notJson(body.slice(at));
    const end = jsonEnd(body, at);
    if (end === undefined) throw new ProviderError('incomplete_stream', 'The answer is JSON that was cut off.');
    const parsed = tryParse(body.slice(at, end));
    if (parsed === undefined) throw notJson(body.slice(at));
    values.push(parsed.value);
    at = end;
  }
}

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function notJson(text: string): ProviderError {
  return new ProviderError('protocol', `The server sent what is not JSON: ${redact(text.slice(0, 200))}`);
}
