import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';

/** Prefix of the ids that the API gives to each kind of item; an id of another kind is refused. */
const PREFIX = { message: 'msg_', function_call: 'fc_', custom_tool_call: 'ctc_', reasoning: 'rs_' } as const;

export type ItemKindWithId = keyof typeof PREFIX;

/** The id, if the API issued it for an item of that kind. */
export function itemId(kind: ItemKindWithId, data: JsonObject | undefined): string | undefined {
  const id = data?.itemId;
  return typeof id === 'string' && id.startsWith(PREFIX[kind]) && id.length > PREFIX[kind].length ? id : undefined;
}

/** Replay data of a reasoning item: everything but its joined text, which the transcript has. */
export function reasoningReplay(item: JsonObject): JsonObject {
  const { id, encrypted_content, summary } = item;
  return {
    ...(typeof id === 'string' ? { itemId: id } : {}),
    ...(typeof encrypted_content === 'string' && encrypted_content !== '' ? { encrypted: encrypted_content } : {}),
    summary: textsOf(summary),
    ...(textsOf(item.content).length > 0 ? { content: textsOf(item.content) } : {}),
  };
}

/** Replay data of a message or call: its id, and the marks that the model must get back with it. */
export function itemReplay(item: JsonObject): JsonObject {
  const { id, phase, namespace, type } = item;
  return {
    ...(typeof id === 'string' && id !== '' ? { itemId: id } : {}),
    ...(typeof phase === 'string' ? { phase } : {}),
    ...(typeof namespace === 'string' ? { namespace } : {}),
    ...(type === 'custom_tool_call' ? { custom: true } : {}),
  };
}

/** The texts of summary or content parts. */
export function textsOf(parts: Json | undefined): readonly string[] {
  if (!Array.isArray(parts)) return [];
  return (parts as readonly Json[]).flatMap((part) => {
    if (typeof part === 'string') return [part];
    return isJsonObject(part) && typeof part.text === 'string' ? [part.text] : [];
  });
}
