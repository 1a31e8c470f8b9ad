import { isJsonObject, type Json } from '../../transcript/json.ts';
import { objectEnd } from '../call-arguments.ts';
import type { ToolNames } from '../tool-names.ts';

/** A call that a model wrote as text. `arguments` is JSON text; broken where the markup was cut. */
export interface TextCall {
  readonly name: string;
  readonly arguments: string;
}

/** What stands at the start of a text, without its markup, and where it ends. `null`: nothing that may be recovered. */
export type Recovered = {
  readonly calls: readonly TextCall[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly end: number;
} | null;

export interface TextCallForm {
  /** How the markup begins; matched whole. */
  readonly opener: string;
  /** Only at the start of an answer: too common in prose elsewhere. */
  readonly startOnly?: true;
  /** Whether what came so far may still become this form; absent: yes, to the end of the answer. */
  readonly possible?: (text: string) => boolean;
  readonly read: (text: string, names: ToolNames) => Recovered;
}

/**
 * Forms in which models leak calls into their text, with the reader of each. A form's reader gets the text from the opener
 * on. Forms that end with the text where their closing tag is missing still count when what is there is whole.
 */
export const TEXT_CALL_FORMS: readonly TextCallForm[] = [
  { opener: '<tool_call>', read: readTagged('<tool_call>', '</tool_call>') }, // Hermes, Qwen, GLM
  { opener: '<function=', read: (text, names) => readFunctionTag(text, names) }, // Qwen-coder, Llama 3.1
  { opener: '<｜DSML｜', read: readInvokes('</(?:tool_calls|function_calls)>') }, // DeepSeek V3.2
  { opener: '<|DSML|', read: readInvokes('</(?:tool_calls|function_calls)>') },
  { opener: '<｜tool▁call', read: readDeepSeekTokens }, // DeepSeek V3, R1
  { opener: '<|tool_call', read: readKimiTokens }, // Kimi K2
  { opener: '<function_calls>', read: readInvokes('</function_calls>') },
  { opener: '<invoke name=', read: readInvokes('</invoke>') },
  { opener: '<minimax:tool_call>', read: readInvokes('</minimax:tool_call>') },
  { opener: '<|channel|>', read: readHarmony }, // gpt-oss
  { opener: '<|start|>assistant', read: readHarmony },
  { opener: 'commentary to=', startOnly: true, read: readHarmony }, // the same, special tokens stripped
  { opener: '<|python_tag|>', read: readJsonAfter('<|python_tag|>') }, // Llama 3
  { opener: '[TOOL_CALLS]', read: readMistral },
  { opener: '{', startOnly: true, possible: mayBeBareCall, read: readBareJson }, // small local models
];

/** The offered call in a JSON value of any of the usual shapes, or `undefined`. */
function callIn(value: Json, names: ToolNames): TextCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const inner = isJsonObject(value.function) ? value.function : value;
  const name = typeof inner.name === 'string' ? inner.name : (value.tool ?? value.function ?? value.tool_name);
  const args = inner.arguments ?? inner.parameters ?? inner.args ?? inner.input;
  if (typeof name !== 'string' || !names.offers(name)) return undefined;
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A JSON object at `from`, whole, with its end. */
function jsonAt(text: string, from: number): { readonly value: Json; readonly end: number } | undefined {
  const end = objectEnd(text, from);
  const value = end === undefined ? undefined : parse(text.slice(from, end));
  return end === undefined || value === undefined ? undefined : { value, end };
}

function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && /\s/.test(text.charAt(i))) i += 1;
  return i;
}

/** `<tool_call>` around JSON, around `<function=…>`, or around GLM's name and `<arg_key>` pairs. */
function readTagged(open: string, close: string): TextCallForm['read'] {
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

/** JSON text of an object. From entries, so that a key such as `__proto__` stays a key. */
function objectOf(entries: readonly (readonly [string, Json])[]): string {
  return JSON.stringify(Object.fromEntries(entries));
}

/** A value written as bare text: text where the tool's schema takes a string or says nothing, else the JSON that it is. */
function typed(value: string, key: string, tool: string, names: ToolNames): Json {
  const properties = names.schema(tool)?.properties;
  const property = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const type = isJsonObject(property) ? property.type : undefined;
  const types: readonly Json[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.length === 0 || types.includes('string') ? value : (parse(value) ?? value);
}

/** `<function=name>` around `<parameter=key>` values, or around JSON. */
function readFunctionTag(text: string, names: ToolNames): Recovered {
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

/** `<invoke name="…">` around `<parameter name="…">`; DeepSeek's DSML tags are these with a prefix and tell strings from JSON. */
function readInvokes(closing: string): TextCallForm['read'] {
  return (text, names) => {
    const plain = text.replaceAll(DSML, '');
    const calls: TextCall[] = [];
    let end = 0;
    for (const match of plain.matchAll(/<invoke name="([^"]+)">([\s\S]*?)<\/invoke>/g)) {
      const [whole, name = '', body = ''] = match;
      if (!names.offers(name)) return null;
      calls.push({ name, arguments: objectOf(parameters(body)) });
      end = match.index + whole.length;
    }
    if (calls.length === 0) return null;
    const tail = new RegExp(`^\\s*${closing}`).exec(plain.slice(end));
    return { calls, end: originalIndex(text, end + (tail?.[0].length ?? 0)) };
  };
}

function parameters(body: string): (readonly [string, Json])[] {
  return [...body.matchAll(/<parameter name="([^"]+)"(?: string="(true|false)")?>([\s\S]*?)<\/parameter>/g)].map(
    ([, key = '', isString, value = '']) => [key, isString === 'false' ? (parse(value) ?? value) : unwrapped(value)],
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

/** Old DeepSeek tokens: `<｜tool▁call▁begin｜>[function<｜tool▁sep｜>]name…{…}<｜tool▁call▁end｜>`. */
function readDeepSeekTokens(text: string, names: ToolNames): Recovered {
  const pattern =
    /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([^\n<｜]+?)(?:<｜tool▁sep｜>|\s*```json\s*|\s*\n)([\s\S]*?)(?:```\s*)?<｜tool▁call▁end｜>/g;
  return readMatches(text, pattern, names, /^\s*<｜tool▁calls▁end｜>/);
}

/** Kimi: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`. */
function readKimiTokens(text: string, names: ToolNames): Recovered {
  const pattern = /<\|tool_call_begin\|>\s*([^<\s]+)\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>/g;
  return readMatches(text, pattern, names, /^\s*<\|tool_calls_section_end\|>/);
}

function readMatches(text: string, pattern: RegExp, names: ToolNames, closing: RegExp): Recovered {
  const calls: TextCall[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [whole, name = '', args = ''] = match;
    if (!names.offers(name)) return null;
    calls.push({ name, arguments: args.trim() });
    end = match.index + whole.length;
  }
  return calls.length === 0 ? null : { calls, end: end + (closing.exec(text.slice(end))?.[0].length ?? 0) };
}

/** Harmony channels: `commentary to=functions.name … {…}`, special tokens kept or stripped. */
function readHarmony(text: string, names: ToolNames): Recovered {
  const said =
    /^(?:<\|start\|>assistant)?<\|channel\|>(analysis|commentary|final)<\|message\|>([\s\S]*?)(?:<\|(?:end|return)\|>|(?=<\|start\|>)|$)/.exec(
      text,
    );
  if (said !== null) {
    const [whole, channel, words = ''] = said;
    return { calls: [], ...(channel === 'analysis' ? { reasoning: words } : { text: words }), end: whole.length };
  }
  const head = /^(?:<\|start\|>assistant)?(?:<\|channel\|>)?(?:commentary|analysis|final)?\s*to=([\w.:-]+)/.exec(text);
  const name = head?.[1];
  if (head === null || name === undefined || !names.offers(name)) return null;
  const brace = text.indexOf('{', head[0].length);
  const between = text.slice(head[0].length, brace < 0 ? text.length : brace);
  if (brace < 0 || !/^(?:\s|<\|[a-z]+\|>|commentary|analysis|json|code)*$/.test(between)) return null;
  const end = objectEnd(text, brace);
  if (end === undefined) return { calls: [{ name, arguments: text.slice(brace) }], end: text.length };
  const tail = /^\s*(?:<\|(?:call|end|return)\|>)?/.exec(text.slice(end))?.[0].length ?? 0;
  return { calls: [{ name, arguments: text.slice(brace, end) }], end: end + tail };
}

/** One or more JSON calls, joined by `;` or white space, after a marker. */
function readJsonAfter(marker: string): TextCallForm['read'] {
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
function readMistral(text: string, names: ToolNames): Recovered {
  const start = skipSpace(text, '[TOOL_CALLS]'.length);
  if (text.charAt(start) === '[') {
    const close = text.lastIndexOf(']');
    const list = parse(text.slice(start, close + 1));
    const calls = Array.isArray(list) ? list.map((entry: Json) => callIn(entry, names)) : [];
    return calls.length === 0 || calls.some((call) => call === undefined)
      ? null
      : { calls: calls.filter((call) => call !== undefined), end: close + 1 };
  }
  const head = /^([\w.-]+)\s*(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*/.exec(text.slice(start));
  const name = head?.[1];
  if (head === null || name === undefined || !names.offers(name)) return null;
  const brace = start + head[0].length;
  const end = objectEnd(text, brace);
  return end === undefined ? null : { calls: [{ name, arguments: text.slice(brace, end) }], end };
}

/** Whether an answer that begins so may be a bare call: its first key is one of a call's. Keeps answers in JSON streaming. */
function mayBeBareCall(text: string): boolean {
  const head = text.replace(/^\{\s*/, '');
  return ['"name"', '"type"', '"id"', '"arguments"', '"parameters"'].some((key) =>
    head.length < key.length ? key.startsWith(head) : head.startsWith(key),
  );
}

/** The whole answer is one JSON call and nothing else. Keys must be those of a call, so that an answer in JSON stays one. */
function readBareJson(text: string, names: ToolNames): Recovered {
  const found = jsonAt(text, 0);
  if (found === undefined || !isJsonObject(found.value) || text.slice(found.end).trim() !== '') return null;
  const keys = Object.keys(found.value);
  const isCall = keys.includes('name') && (keys.includes('arguments') || keys.includes('parameters'));
  if (!isCall || keys.some((key) => !['name', 'arguments', 'parameters', 'type', 'id'].includes(key))) return null;
  const call = callIn(found.value, names);
  return call === undefined ? null : { calls: [call], end: text.length };
}
