import type { Json } from '../../transcript/json.ts';
import type { ToolNames } from '../tool-names.ts';
import {
  callIn,
  jsonAt,
  objectOf,
  parse,
  type Recovered,
  skipSpace,
  type TextCall,
  type TextCallForm,
  typed,
} from './text-call-form.ts';

/** `<tool_call>` around JSON, around `<function=…>`, or around GLM's name and `<arg_key>` pairs. */
export function readTagged(open: string, close: string): TextCallForm['read'] {
  return (text, names) => {
    const start = skipSpace(text, open.length);
    const closed = (at: number): number => {
      const next = skipSpace(text, at);
      return text.startsWith(close, next) ? next + close.length : at;
    };
    if (text.startsWith('<function=', start)) {
      const inner = readFunctionTag(text.slice(start), names);
      return inner === null ? null : { calls: inner.calls, end: closed(start + inner.end) };
    }
    if (text.charAt(start) === '{') return readJsonCall(text, start, names, closed);
    return readArgPairs(text, start, close, names);
  };
}

function readJsonCall(text: string, start: number, names: ToolNames, closed: (at: number) => number): Recovered {
  const found = jsonAt(text, start);
  if (found !== undefined) {
    const call = callIn(found.value, names);
    return call === undefined ? null : { calls: [call], end: closed(found.end) };
  }
  // Cut off, or broken JSON: the model meant a call. It is kept as one whose arguments cannot be read.
  const name = /"name"\s*:\s*"([^"]+)"/.exec(text.slice(start, start + 400))?.[1];
  const args = /"(?:arguments|parameters)"\s*:\s*/.exec(text.slice(start));
  if (name === undefined || !names.offers(name) || args === null) return null;
  const end = text.indexOf('</tool_call>', start);
  const stop = end < 0 ? text.length : end;
  return {
    calls: [{ name, arguments: `${text.slice(start + args.index + args[0].length, stop)} ` }],
    end: closed(stop),
  };
}

/** GLM: `name`, then `<arg_key>k</arg_key><arg_value>v</arg_value>` pairs. */
function readArgPairs(text: string, start: number, close: string, names: ToolNames): Recovered {
  const end = text.indexOf(close, start);
  if (end < 0) return null;
  const body = text.slice(start, end);
  const name = /^[^\s<]+/.exec(body)?.[0];
  if (name === undefined || !names.offers(name)) return null;
  const pairs = [...body.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g)];
  const args = objectOf(pairs.map(([, key = '', value = '']) => [key.trim(), typed(value, key.trim(), name, names)]));
  return { calls: [{ name, arguments: args }], end: end + close.length };
}

/** `<function=name>` around `<parameter=key>` values, or around JSON. */
export function readFunctionTag(text: string, names: ToolNames): Recovered {
  const head = /^<function=([^>\s]+)>/.exec(text);
  const name = head?.[1]?.replaceAll('"', '');
  if (head === null || name === undefined || !names.offers(name)) return null;
  const close = text.indexOf('</function>', head[0].length);
  const end = close < 0 ? text.length : close;
  const body = text.slice(head[0].length, end);
  const after = close < 0 ? text.length : close + '</function>'.length;
  const json = body.trim();
  if (json.startsWith('{')) return { calls: [{ name, arguments: json }], end: after };
  const values = [...body.matchAll(/<parameter=([^>\s]+)>([\s\S]*?)(?:<\/parameter>|(?=<parameter=))/g)];
  const opened = body.split('<parameter=').length - 1;
  if (opened > values.length || (close < 0 && values.length === 0))
    return { calls: [{ name, arguments: body }], end: after };
  const entries = values.map(([, key = '', value = '']) => [key, typed(unwrapped(value), key, name, names)] as const);
  return { calls: [{ name, arguments: objectOf(entries) }], end: after };
}

/** The template puts one line break after the opening tag and one before the closing tag. */
function unwrapped(value: string): string {
  return value.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
}

/** DeepSeek's mark inside its tags, with its own wide bars or with plain ones. */
const DSML = /[｜|]DSML[｜|]/g;

/**
 * `<invoke name="…">` around `<parameter name="…">`, one or more, between `opening` and `closing`. DeepSeek's DSML tags are
 * these with a mark in each, and tell strings from JSON.
 */
export function readInvokes(opening: RegExp, closing: RegExp): TextCallForm['read'] {
  return (text, names) => {
    const plain = text.replaceAll(DSML, '');
    const calls: TextCall[] = [];
    let end = opening.exec(plain)?.[0].length ?? 0;
    const invoke = /\s*<invoke name="([^"]+)">([\s\S]*?)<\/invoke>/y;
    for (;;) {
      invoke.lastIndex = end;
      const match = invoke.exec(plain);
      if (match === null) break;
      const [whole, name = '', body = ''] = match;
      if (!names.offers(name)) return null;
      calls.push({ name, arguments: objectOf(parameters(body, name, names)) });
      end += whole.length;
    }
    if (calls.length === 0) return null;
    const tail = closing.exec(plain.slice(end));
    return { calls, end: originalIndex(text, end + (tail?.[0].length ?? 0)) };
  };
}

function parameters(body: string, tool: string, names: ToolNames): (readonly [string, Json])[] {
  return [...body.matchAll(/<parameter name="([^"]+)"(?: string="(true|false)")?>([\s\S]*?)<\/parameter>/g)].map(
    ([, key = '', isString, value = '']) => {
      if (isString === 'true') return [key, value];
      return [key, isString === 'false' ? (parse(value) ?? value) : typed(unwrapped(value), key, tool, names)];
    },
  );
}

/** The index in `text` of what stands at `index` once all DSML marks are gone. */
function originalIndex(text: string, index: number): number {
  let removed = 0;
  for (const match of text.matchAll(DSML)) {
    if (match.index - removed >= index) break;
    removed += match[0].length;
  }
  return index + removed;
}
