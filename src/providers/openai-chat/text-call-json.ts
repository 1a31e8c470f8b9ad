import { isJsonObject, type Json } from '../../transcript/json.ts';
import { jsonEnd } from '../call-arguments.ts';
import type { ToolNames } from '../tool-names.ts';
import { callIn, jsonAt, type Recovered, skipSpace, type TextCall, type TextCallForm } from './text-call-form.ts';

/** One or more JSON calls, joined by `;` or white space, after a marker. */
export function readJsonAfter(marker: string): TextCallForm['read'] {
  return (text, names) => {
    const calls: TextCall[] = [];
    let at = skipSpace(text, marker.length);
    for (;;) {
      const found = jsonAt(text, at);
      const call = found === undefined ? undefined : callIn(found.value, names);
      if (found === undefined || call === undefined) break;
      calls.push(call);
      at = found.end;
      const next = /^\s*;?\s*/.exec(text.slice(at))?.[0].length ?? 0;
      if (text.charAt(at + next) !== '{') break;
      at += next;
    }
    return calls.length === 0 ? null : { calls, end: at };
  };
}

/** `[TOOL_CALLS]` before a JSON array of calls, or before `name[ARGS]{…}` (also `name{…}`). */
export function readMistral(text: string, names: ToolNames): Recovered {
  const start = skipSpace(text, '[TOOL_CALLS]'.length);
  if (text.charAt(start) === '[') {
    const list = jsonAt(text, start);
    const entries: readonly Json[] = list !== undefined && Array.isArray(list.value) ? list.value : [];
    const calls = entries.flatMap((entry) => callIn(entry, names) ?? []);
    return list === undefined || calls.length === 0 || calls.length < entries.length ? null : { calls, end: list.end };
  }
  const head = /^([\w.-]+)\s*(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*/.exec(text.slice(start));
  const name = head?.[1];
  if (head === null || name === undefined || !names.offers(name)) return null;
  const brace = start + head[0].length;
  const end = text.charAt(brace) === '{' ? jsonEnd(text, brace) : undefined;
  return end === undefined ? null : { calls: [{ name, arguments: text.slice(brace, end) }], end };
}

/** Whether an answer that begins so may be a bare call: its first key is one of a call's. Keeps answers in JSON streaming. */
export function mayBeBareCall(text: string): boolean {
  const head = text.replace(/^\{\s*/, '');
  return ['"name"', '"type"', '"id"', '"arguments"', '"parameters"'].some((key) =>
    head.length < key.length ? key.startsWith(head) : head.startsWith(key),
  );
}

/** The whole answer is one JSON call and nothing else. Keys must be those of a call, so that an answer in JSON stays one. */
export function readBareJson(text: string, names: ToolNames): Recovered {
  const found = jsonAt(text, 0);
  if (found === undefined || !isJsonObject(found.value) || text.slice(found.end).trim() !== '') return null;
  const keys = Object.keys(found.value);
  const isCall = keys.includes('name') && (keys.includes('arguments') || keys.includes('parameters'));
  if (!isCall || keys.some((key) => !['name', 'arguments', 'parameters', 'type', 'id'].includes(key))) return null;
  const call = callIn(found.value, names);
  return call === undefined ? null : { calls: [call], end: text.length };
}
