import { isJsonObject, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { parseCallArguments } from '../call-arguments.ts';
import type { ToolNames } from '../tool-names.ts';

/** Puts fragments of tool calls together, by whatever a server gives to tell them apart. */
export interface CallAssembler {
  /** Takes one entry of `delta.tool_calls`. */
  push(delta: unknown): readonly StreamEvent[];
  /** Announces calls that never got arguments. */
  end(): readonly StreamEvent[];
  readonly count: number;
}

interface Call {
  readonly part: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  text: string;
  /** Name and id that readers were told: only once arguments come, so that a half name never gets out. */
  announced: string | undefined;
}

interface Fragment {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly extra: JsonObject | undefined;
}

/** @param nextPart gives the part number of a new call. */
export function createCallAssembler(names: ToolNames, nextPart: () => number): CallAssembler {
  const calls: Call[] = [];

  const open = (fragment: Fragment): Call => {
    const { index, id, name } = fragment;
    const call: Call = { part: nextPart(), index, id, name, text: '', announced: undefined };
    calls.push(call);
    return call;
  };

  return {
    push(delta) {
      if (!isJsonObject(delta)) return [];
      const fragment = readFragment(delta);
      const owner = ownerOf(fragment, calls, names);
      const call = owner === 'repeat' ? undefined : (owner ?? open(fragment));
      if (call === undefined) return [];
      if (owner !== undefined) extend(call, fragment, names);
      const text = newText(call.text, fragment.text);
      call.text += text;
      return [...said(call, text, names), ...replayOf(call, fragment)];
    },
    end: () => calls.flatMap((call) => (call.announced === undefined ? said(call, '', names, true) : [])),
    get count() {
      return calls.length;
    },
  };
}

function readFragment(delta: JsonObject): Fragment {
  const fn = isJsonObject(delta.function) ? delta.function : delta;
  const args = fn.arguments ?? fn.parameters;
  return {
    index: delta.index === undefined || delta.index === null || delta.index === '' ? undefined : Number(delta.index),
    id: typeof delta.id === 'number' ? String(delta.id) : typeof delta.id === 'string' ? delta.id : '',
    name: typeof fn.name === 'string' ? fn.name : '',
    text: typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args),
    extra: isJsonObject(delta.extra_content) ? delta.extra_content : undefined,
  };
}

/** Servers that send the arguments anew and longer each time: a JSON object never begins twice, so what is known goes. */
function newText(known: string, text: string): string {
  return known.startsWith('{') && text.startsWith(known) ? text.slice(known.length) : text;
}

/** The call that a fragment continues, `undefined` when it begins one, `repeat` when it only says again what is known. */
function ownerOf(fragment: Fragment, calls: readonly Call[], names: ToolNames): Call | 'repeat' | undefined {
  const { index, id, name } = fragment;
  const last = calls.at(-1);
  const sameIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index);
  const sameId = id === '' ? undefined : calls.findLast((call) => call.id === id);
  const candidate =
    sameIndex ?? (index === undefined || name === '' ? (sameId ?? (id === '' ? last : undefined)) : undefined);
  if (candidate === undefined) return undefined;
  const otherId = id !== '' && candidate.id !== '' && id !== candidate.id;
  if (name === '')
    return otherId && isWhole(candidate.text) && fragment.text.trimStart().startsWith('{') ? undefined : candidate;
  if (otherId) return undefined;
  if (id !== '' && id === candidate.id && sameCall(candidate, fragment)) return 'repeat';
  if (candidate.text.trim() === '') return continuesName(candidate.name, fragment, names) ? candidate : undefined;
  // A name after arguments: the call is named again, unless its arguments are whole and this brings a call of its own.
  if (isWhole(candidate.text) && (name !== candidate.name || fragment.text.trimStart().startsWith('{')))
    return undefined;
  if (name === candidate.name || index !== undefined) return candidate;
  return undefined;
}

/** Servers that end with a summary send each call again, whole. */
function sameCall(call: Call, { name, text }: Fragment): boolean {
  return name === call.name && text !== '' && text === call.text;
}

/** Whether a second name before any arguments belongs to the first: a piece of it, the same again, or the same grown. */
function continuesName(known: string, { id, name }: Fragment, names: ToolNames): boolean {
  if (known === '' || name === known || name.startsWith(known)) return true;
  return id !== '' || names.offers(known + name) || !names.offers(known) || !names.offers(name);
}

function extend(call: Call, { id, name }: Fragment, names: ToolNames): void {
  if (call.id === '') call.id = id;
  if (name === '' || name === call.name || call.text !== '') return;
  const grown = name.startsWith(call.name) && !names.offers(call.name + name);
  call.name = grown ? name : call.name + name;
}

function said(call: Call, text: string, names: ToolNames, last = false): readonly StreamEvent[] {
  if (call.announced === undefined && text === '' && !last) return [];
  const event = { type: 'tool_call_delta', part: call.part, ...(text === '' ? {} : { arguments: text }) } as const;
  const announcement = `${call.name} ${call.id}`;
  if (call.announced === announcement) return text === '' ? [] : [event];
  call.announced = announcement;
  return [{ ...event, nativeId: call.id, name: names.resolve(call.name) }];
}

function replayOf({ part }: Call, { extra }: Fragment): readonly StreamEvent[] {
  return extra === undefined ? [] : [{ type: 'replay', part, data: { extra_content: extra } }];
}

/** Whether the arguments so far are a whole JSON object. */
function isWhole(text: string): boolean {
  return text.trim() !== '' && parseCallArguments(text)[0].ok;
}
