import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import { thinkingReplay } from './thinking.ts';

/** A content block while it arrives. `start` is as the server sent it, `text` what its deltas added. */
export interface OpenBlock {
  readonly type: string;
  readonly start: JsonObject;
  text: string;
  signature: string;
  readonly citations: Json[];
}

/** Opens a block as the server announces it. */
export function openBlock(start: JsonObject): OpenBlock {
  return { type: textOf(start.type), start, text: '', signature: textOf(start.signature), citations: [] };
}

/** A call's block is announced at once; what stands in the block already (servers that do not stream it) counts as first delta. */
export function started(block: OpenBlock, part: number): readonly StreamEvent[] {
  const { start, type } = block;
  if (type === 'tool_use')
    return [{ type: 'tool_call_delta', part, nativeId: textOf(start.id), name: textOf(start.name) }];
  if (type === 'text' && textOf(start.text) !== '') return [{ type: 'text_delta', part, text: textOf(start.text) }];
  if (type === 'thinking' && textOf(start.thinking) !== '') {
    block.text = textOf(start.thinking);
    return [{ type: 'reasoning_delta', part, text: block.text }];
  }
  if (type === 'redacted_thinking') return [{ type: 'replay', part, data: { redacted: textOf(start.data) } }];
  if (type === 'text' && Array.isArray(start.citations)) block.citations.push(...(start.citations as readonly Json[]));
  return [];
}

const BLOCK_OF_DELTA: ReadonlyMap<Json | undefined, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
]);

export function openedBy(delta: JsonObject): OpenBlock {
  const type = BLOCK_OF_DELTA.get(delta.type);
  if (type === undefined)
    throw new ProviderError('protocol', `a ${textOf(delta.type)} for a block that was never opened`);
  return { type, start: {}, text: '', signature: '', citations: [] };
}

export function added(block: OpenBlock, part: number, delta: JsonObject): readonly StreamEvent[] {
  switch (delta.type) {
    case 'text_delta':
      return [{ type: 'text_delta', part, text: textOf(delta.text) }];
    case 'thinking_delta':
      block.text += textOf(delta.thinking);
      return [{ type: 'reasoning_delta', part, text: textOf(delta.thinking) }];
    case 'signature_delta':
      block.signature += textOf(delta.signature);
      return [];
    case 'citations_delta':
      if (delta.citation !== undefined) block.citations.push(delta.citation);
      return [];
    case 'input_json_delta':
      block.text += textOf(delta.partial_json);
      if (block.type !== 'tool_use' || delta.partial_json === '') return [];
      return [{ type: 'tool_call_delta', part, arguments: textOf(delta.partial_json) }];
    default:
      return [];
  }
}

/** What is known only when a block is whole: signatures, citations, inputs that came in one piece, the server's own tools. */
export function stopped(block: OpenBlock, part: number): readonly StreamEvent[] {
  const done: StreamEvent = { type: 'part_done', part };
  const { type, start } = block;
  if (type === 'thinking') {
    if (block.signature === '' && block.text === '') return [done];
    return [{ type: 'replay', part, data: thinkingReplay(block.text, block.signature) }, done];
  }
  if (type === 'text') {
    return block.citations.length === 0
      ? [done]
      : [{ type: 'replay', part, data: { citations: block.citations } }, done];
  }
  if (type === 'tool_use') {
    const whole = block.text === '' && isJsonObject(start.input) && Object.keys(start.input).length > 0;
    return whole ? [{ type: 'tool_call_delta', part, arguments: JSON.stringify(start.input) }, done] : [done];
  }
  return [...builtinEvent(block, part), done];
}

function builtinEvent({ type, start, text }: OpenBlock, part: number): readonly StreamEvent[] {
  if (type.endsWith('_tool_use')) {
    const payload = { ...start, input: inputOf(text, start.input) };
    const call = { phase: 'call', nativeId: textOf(start.id), name: textOf(start.name) } as const;
    return [
      { type: 'builtin_tool', part, ...call, payload },
      { type: 'replay', part, data: { native: true } },
    ];
  }
  if (type.endsWith('_tool_result')) {
    const result = {
      phase: 'result',
      nativeId: textOf(start.tool_use_id),
      name: type.slice(0, -'_tool_result'.length),
    } as const;
    return [
      { type: 'builtin_tool', part, ...result, payload: start },
      { type: 'replay', part, data: { native: true } },
    ];
  }
  return [];
}

function inputOf(streamed: string, whole: Json | undefined): Json {
  if (streamed === '') return whole ?? {};
  try {
    return JSON.parse(streamed) as Json;
  } catch {
    return whole ?? {};
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
