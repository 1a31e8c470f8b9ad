import type { ItemKind, ToolResultStatus } from '../items.ts';
import { isJsonObject, type Json } from '../json.ts';

type Field = (value: Json | undefined) => boolean;

const text: Field = (value) => typeof value === 'string';
const object: Field = (value) => isJsonObject(value);
const any: Field = (value) => value !== undefined;
const listOf =
  (one: (entry: Json) => string | undefined): Field =>
  (value) =>
    Array.isArray(value) && (value as readonly Json[]).every((entry) => one(entry) === undefined);
const oneOf =
  (...words: readonly string[]): Field =>
  (value) =>
    typeof value === 'string' && words.includes(value);
const optional =
  (field: Field): Field =>
  (value) =>
    value === undefined || field(value);

const RESULT_STATUS: Readonly<Record<ToolResultStatus, true>> = {
  ok: true,
  error: true,
  denied: true,
  timed_out: true,
  cancelled: true,
  aborted: true,
  unknown_outcome: true,
};

function fields(value: Json, wanted: Readonly<Record<string, Field>>): string | undefined {
  if (!isJsonObject(value)) return 'is no object';
  const wrong = Object.entries(wanted).find(([key, field]) => !field(value[key]));
  return wrong === undefined ? undefined : `${wrong[0]} is missing or wrong`;
}

const media = (value: Json | undefined): boolean =>
  value !== undefined &&
  fields(value, { sha256: text, mediaType: text, byteLength: (bytes) => typeof bytes === 'number' }) === undefined;

const BLOCKS: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  text: { text },
  refusal: { text },
  image: { media },
  audio: { media },
  file: { media },
  extension: { name: text, data: any },
};

function block(value: Json): string | undefined {
  const type = isJsonObject(value) && typeof value.type === 'string' ? value.type : '';
  const wanted = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  return wanted === undefined ? 'is no block' : fields(value, wanted);
}

const response: Field = (value) =>
  value !== undefined && fields(value, { id: text, provider: text, model: text, api: text }) === undefined;
const replay = optional((value) => value !== undefined && fields(value, { scope: object, data: object }) === undefined);
const call = (value: Json) => fields(value, { callId: text, nativeId: text, name: text, arguments: any, replay });
const result = (value: Json) =>
  fields(value, { callId: text, status: oneOf(...Object.keys(RESULT_STATUS)), content: listOf(block) });

const ITEMS: Readonly<Record<ItemKind, Readonly<Record<string, Field>>>> = {
  user_message: { origin: oneOf('user', 'steer', 'control', 'observed'), content: listOf(block) },
  assistant_message: { response, content: listOf(block) },
  tool_call_batch: { response, calls: listOf(call) },
  tool_result_batch: { results: listOf(result) },
  reasoning_summary: { response, text, replay },
  builtin_tool_event: { response, phase: oneOf('call', 'result'), nativeId: text, name: text, payload: any, replay },
  compaction_summary: { compactionId: text, text },
};

/** Why a JSON value is no item of a version that we can read; `undefined` when it is one. Says nothing of the order of items. */
export function itemProblem(value: Json | undefined): string | undefined {
  if (!isJsonObject(value)) return 'the item is no object';
  const kind = typeof value.kind === 'string' ? value.kind : '';
  if (!Object.hasOwn(ITEMS, kind)) return `${JSON.stringify(kind)} is no kind of item`;
  if (value.schemaVersion !== 1) return `items of schema version ${String(value.schemaVersion)} cannot be read`;
  const problem = fields(value, ITEMS[kind as ItemKind]);
  return problem === undefined ? undefined : `${kind}: ${problem}`;
}
