import { isObj, str } from './case-file.ts';

/** Resolves what the notation writes short: `{"$repeat":"word ","times":n}` at any depth stands for that text n times. */
export function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (!isObj(value)) return value;
  if (typeof value.$repeat === 'string') return value.$repeat.repeat(Number(value.times ?? 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner)]));
}

/**
 * Fills the `{{…}}` of a header: a date computed when the answer is sent, in the format of RFC 9110 §5.6.7 or, where the
 * words say so, ISO 8601. `20 seconds after` shifts it.
 *
 * @throws TypeError for words that are no date.
 */
export function fillPlaceholders(text: string, nowMs: number): string {
  return text.replace(/\{\{(.*?)\}\}/g, (_, words: string) => {
    if (!/date|time|now/i.test(words)) throw new TypeError(`unknown placeholder {{${words}}}`);
    const amount = /(\d+(?:\.\d+)?|\ban?\b|\bone\b)\s*(ms|millisecond|second|s\b|minute|hour|day)/i.exec(words);
    const shift =
      amount === null ? 0 : (Number.isNaN(Number(amount[1])) ? 1 : Number(amount[1])) * unitMs(str(amount[2]));
    const sign = /before|ago|in the past|earlier/i.test(words) ? -1 : 1;
    const at = new Date(nowMs + sign * shift);
    if (/unix|epoch/i.test(words)) return String(Math.ceil(at.getTime() / 1000));
    return /iso/i.test(words) ? at.toISOString() : at.toUTCString();
  });
}

function unitMs(unit: string): number {
  const word = unit.toLowerCase();
  if (word.startsWith('ms') || word.startsWith('milli')) return 1;
  if (word.startsWith('s')) return 1000;
  if (word.startsWith('m')) return 60_000;
  return word.startsWith('h') ? 3_600_000 : 86_400_000;
}

/** Text of a value that the notation gives as text, as a repeat, or as a JSON value to be sent as its text. */
export function asText(value: unknown): string {
  const expanded = expand(value);
  if (typeof expanded === 'string') return expanded;
  return expanded === undefined || expanded === null ? '' : JSON.stringify(expanded);
}
