import { Refusal } from './refusal.ts';
import { safeJson } from './safe-json.ts';

/** Longest text of one failure; what is longer says no more to the model. */
const MAX_CHARS = 8000;
const MAX_CAUSES = 3;

/** What somebody threw, in words: never empty, never `[object Object]`, and never throws itself. */
export function thrownText(thrown: unknown): string {
  try {
    const text = describe(thrown, 0);
    return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}… (${text.length} characters)`;
  } catch {
    return 'the tool threw a value that cannot be read';
  }
}

function describe(thrown: unknown, depth: number): string {
  if (thrown instanceof Refusal) return thrown.message;
  if (thrown instanceof Error) return errorText(thrown, depth);
  if (typeof thrown === 'string') return thrown.trim() === '' ? 'the tool threw an empty text' : thrown;
  if (typeof thrown !== 'object' || thrown === null) return `the tool threw ${shown(thrown)}`;
  const { message } = thrown as { message?: unknown };
  const json = safeJson(thrown, MAX_CHARS).text;
  if (typeof message === 'string' && message.trim() !== '') return json === '{}' ? message : `${message} ${json}`;
  return `the tool threw ${json === '{}' ? 'an empty object' : json}`;
}

function errorText(error: Error, depth: number): string {
  const { name, message, cause } = error;
  const kind = typeof name === 'string' && name !== '' ? name : 'Error';
  const words = typeof message === 'string' && message.trim() !== '' ? message : '';
  const head = words === '' ? `${kind} without a message` : kind === 'Error' ? words : `${kind}: ${words}`;
  const inner =
    error instanceof AggregateError ? error.errors.slice(0, MAX_CAUSES) : cause === undefined ? [] : [cause];
  if (depth >= MAX_CAUSES || inner.length === 0) return head;
  return `${head} (${inner.map((one) => describe(one, depth + 1)).join('; ')})`;
}

function shown(value: unknown): string {
  return typeof value === 'function' ? 'a function' : String(value);
}
