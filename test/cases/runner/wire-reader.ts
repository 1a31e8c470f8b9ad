import { isObj, type Obj, objs, str } from './case-file.ts';
import type { SeenRequest } from './observation.ts';

/** One block of a wire message, whatever its format calls it. */
export interface WirePart {
  readonly kind: 'text' | 'image' | 'call' | 'result' | 'reasoning' | 'other';
  /** Id of a call or result. */
  readonly id: string;
  /** Name of a call. */
  readonly name: string;
  /** Text, output, or arguments as text. */
  readonly text: string;
  readonly raw: Obj;
}

/** One message or item of a request. */
export interface WireMessage {
  /** The role, or for Responses the item type. */
  readonly label: string;
  readonly parts: readonly WirePart[];
  readonly raw: Obj;
}

/** The conversation of a request, in the order sent; the system field, where the format has one, stands first. */
export function messagesOf({ api, body }: SeenRequest): WireMessage[] {
  if (api === 'openai-chat') return objs(body.messages).map(chatMessage);
  if (api === 'anthropic') return [...systemField(body), ...objs(body.messages).map(anthropicMessage)];
  const instructions =
    typeof body.instructions === 'string'
      ? [message('system', [part('text', body, { text: body.instructions })], body)]
      : [];
  return [...instructions, ...objs(body.input).map(responsesItem)];
}

/** Names of tools that a request declares. */
export function toolNamesOf({ body }: SeenRequest): string[] {
  return objs(body.tools).map((tool) => str(isObj(tool.function) ? tool.function.name : tool.name));
}

/** All parts of a kind. */
export function partsOf(request: SeenRequest, kind: WirePart['kind']): WirePart[] {
  return messagesOf(request).flatMap((entry) => entry.parts.filter((each) => each.kind === kind));
}

function message(label: string, parts: readonly WirePart[], raw: Obj): WireMessage {
  return { label, parts, raw };
}

function part(kind: WirePart['kind'], raw: Obj, more: Partial<WirePart> = {}): WirePart {
  return { kind, id: '', name: '', text: '', raw, ...more };
}

function systemField(body: Obj): WireMessage[] {
  if (typeof body.system === 'string') return [message('system', [part('text', body, { text: body.system })], body)];
  return Array.isArray(body.system) ? [message('system', objs(body.system).map(contentPart), body)] : [];
}

function chatMessage(raw: Obj): WireMessage {
  const label = str(raw.role) === 'developer' ? 'system' : str(raw.role);
  if (label === 'tool')
    return message(label, [part('result', raw, { id: str(raw.tool_call_id), text: textOf(raw.content) })], raw);
  const reasoning =
    typeof raw.reasoning_content === 'string' ? [part('reasoning', raw, { text: raw.reasoning_content })] : [];
  const calls = objs(raw.tool_calls).map((call) => {
    const fn = isObj(call.function) ? call.function : {};
    return part('call', call, { id: str(call.id), name: str(fn.name), text: str(fn.arguments) });
  });
  return message(label, [...reasoning, ...contentParts(raw.content, raw), ...calls], raw);
}

function contentParts(content: unknown, raw: Obj): WirePart[] {
  if (typeof content === 'string') return content === '' ? [] : [part('text', raw, { text: content })];
  return objs(content).map(contentPart);
}

function contentPart(raw: Obj): WirePart {
  const type = str(raw.type);
  if (/text$/.test(type)) return part('text', raw, { text: str(raw.text) });
  if (type === 'refusal') return part('text', raw, { text: str(raw.refusal) });
  if (/image/.test(type)) return part('image', raw);
  return part('other', raw);
}

function anthropicMessage(raw: Obj): WireMessage {
  if (typeof raw.content === 'string') return message(str(raw.role), [part('text', raw, { text: raw.content })], raw);
  const parts = objs(raw.content).map((block) => {
    if (block.type === 'tool_use')
      return part('call', block, { id: str(block.id), name: str(block.name), text: JSON.stringify(block.input) });
    if (block.type === 'tool_result')
      return part('result', block, { id: str(block.tool_use_id), text: textOf(block.content) });
    if (/thinking$/.test(str(block.type))) return part('reasoning', block, { text: str(block.thinking) });
    return contentPart(block);
  });
  return message(str(raw.role), parts, raw);
}

function responsesItem(raw: Obj): WireMessage {
  const type = str(raw.type, 'message');
  if (type === 'message') {
    const role = str(raw.role) === 'developer' ? 'system' : str(raw.role);
    return message(role, contentParts(raw.content, raw), raw);
  }
  if (/_call$/.test(type) && raw.call_id !== undefined) {
    return message(
      type,
      [part('call', raw, { id: str(raw.call_id), name: str(raw.name), text: str(raw.arguments ?? raw.input) })],
      raw,
    );
  }
  if (/_call_output$/.test(type))
    return message(type, [part('result', raw, { id: str(raw.call_id), text: textOf(raw.output) })], raw);
  if (type === 'reasoning') {
    const texts = [...objs(raw.summary), ...objs(raw.content)].map((entry) => str(entry.text));
    return message(type, [part('reasoning', raw, { text: texts.join('\n') })], raw);
  }
  return message(type, [part('other', raw)], raw);
}

/** Text of a content that is a string or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objs(content)
    .map((entry) => str(entry.text))
    .join('\n');
}
