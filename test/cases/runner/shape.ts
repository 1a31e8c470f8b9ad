import type { SeenRequest } from './observation.ts';
import { messagesOf, type WireMessage, type WirePart } from './wire-reader.ts';

/**
 * Compares a request with a `shape` of the notation: one word a message or item, such as `user`,
 * `assistant[text,call_a]`, `user[result toolu_1, text]`, `assistant[5 tool_use]`, `tool(call_a)`, `reasoning(enc)`.
 *
 * What stands in brackets must be there, in that order; text and reasoning beside calls count only where they are named.
 *
 * @param userTexts texts of the transcript's user messages: a format that joins them into one string still holds several.
 */
export function shapeProblem(
  expected: readonly string[],
  request: SeenRequest,
  userTexts: readonly string[],
): string | undefined {
  const messages = messagesOf(request);
  const seen = messages.map((message) => describe(message, userTexts));
  const complaint = `expected ${JSON.stringify(expected)}, seen ${JSON.stringify(seen)}`;
  if (messages.length !== expected.length) return complaint;
  const fits = expected.every((word, i) => {
    const message = messages[i];
    return message !== undefined && matches(word, message, userTexts);
  });
  return fits ? undefined : complaint;
}

function matches(word: string, message: WireMessage, userTexts: readonly string[]): boolean {
  const [, label = '', , brackets, , parens] = /^([a-z_]+)(\[(.*)\])?(\((.*)\))?$/.exec(word.trim()) ?? [];
  if (label !== message.label) return false;
  if (parens !== undefined) return matchesArgument(parens.trim(), message);
  if (brackets === undefined) return true;
  const wanted = brackets.split(',').map((entry) => entry.trim());
  const counted = /^(\d+) (tool_use|tool_result|text|image)$/.exec(brackets.trim());
  if (counted !== null) {
    const kind = { tool_use: 'call', tool_result: 'result', text: 'text', image: 'image' }[counted[2] ?? ''];
    return message.parts.length === Number(counted[1]) && message.parts.every((part) => part.kind === kind);
  }
  const seen = partWords(message, userTexts).filter(
    (entry) => entry !== 'reasoning' || wanted.includes('reasoning') || wanted.includes('thinking'),
  );
  const textNamed = wanted.includes('text') || message.label !== 'assistant';
  const compared = seen.filter((entry) => textNamed || entry !== 'text');
  return compared.length === wanted.length && compared.every((entry, i) => entry === normal(wanted[i] ?? ''));
}

/** `tool(call_a)`, `function_call(call_1)`: the id. `reasoning(enc)`: with encrypted content. */
function matchesArgument(argument: string, message: WireMessage): boolean {
  if (message.label === 'reasoning') return argument !== 'enc' || typeof message.raw.encrypted_content === 'string';
  return message.parts.some((part) => part.id === argument);
}

function normal(word: string): string {
  return word === 'thinking' ? 'reasoning' : word.replace(/^call /, '').replace(/^tool_use /, '');
}

function partWords(message: WireMessage, userTexts: readonly string[]): string[] {
  return message.parts.flatMap((part) => words(part, message, userTexts));
}

function words(part: WirePart, message: WireMessage, userTexts: readonly string[]): string[] {
  if (part.kind === 'call') return [part.id];
  if (part.kind === 'result') return [`result ${part.id}`];
  if (part.kind !== 'text' || message.label !== 'user') return [part.kind];
  return Array.from({ length: Math.max(1, joinedTexts(part.text, userTexts)) }, () => 'text');
}

/** How many of the transcript's user texts stand in this text, in order. */
function joinedTexts(text: string, userTexts: readonly string[]): number {
  let from = 0;
  let count = 0;
  for (const each of userTexts) {
    const at = text.indexOf(each, from);
    if (each === '' || at < 0) continue;
    count += 1;
    from = at + each.length;
  }
  return count;
}

function describe(message: WireMessage, userTexts: readonly string[]): string {
  const inner = partWords(message, userTexts).join(',');
  return inner === '' ? message.label : `${message.label}[${inner}]`;
}
