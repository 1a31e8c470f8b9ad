import { isJsonObject, type Json } from '../../transcript/json.ts';

/** The text of `content`: a string, or the text parts of an array. */
export function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: Json) => (isThinking(part) ? '' : partText(part))).join('');
}

/** The thinking of `content`, where it stands there as parts of its own (Mistral). */
export function thinkingOf(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  return content.map((part: Json) => (isThinking(part) ? partText(part) : '')).join('');
}

function isThinking(part: Json): boolean {
  return isJsonObject(part) && (part.type === 'thinking' || part.type === 'reasoning');
}

function partText(part: Json): string {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) return '';
  const inner = part.text ?? part.thinking ?? part.content;
  return typeof inner === 'string' ? inner : Array.isArray(inner) ? inner.map(partText).join('') : '';
}
