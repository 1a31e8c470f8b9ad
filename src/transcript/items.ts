import type { Json, JsonObject } from './json.ts';

/**
 * The version of every persisted item shape.
 *
 * - 1: first version.
 */
export const ITEM_SCHEMA_VERSION = 1;

/** The wire format that a response came in by. `offline` is the built-in model that needs no key. */
export type Api = 'openai-chat' | 'openai-responses' | 'anthropic' | 'offline';

/** Whose response an item belongs to. All items of one response carry the same `id`. */
export interface ResponseRef {
  /** Id of the response within the session: the provider's, or ours where it gave none. */
  readonly id: string;
  /** Id of the provider in the registry, such as `anthropic` or `deepseek`. */
  readonly provider: string;
  readonly model: string;
  readonly api: Api;
}

/**
 * What a provider must get back unchanged: a thinking signature, redacted data, encrypted reasoning, item ids.
 *
 * Goes back only to the endpoint, account and model of `scope`.
 */
export interface Replay {
  readonly scope: ReplayScope;
  readonly data: JsonObject;
}

export interface ReplayScope {
  /** Base URL of the endpoint, without credentials, query or trailing slash. */
  readonly endpoint: string;
  /** A fingerprint of the account, never a key. */
  readonly account: string;
  readonly model: string;
}

/** Media are stored once by their hash and referenced; an item never holds their bytes. */
export interface MediaRef {
  /** Lower-case hex SHA-256 of the bytes. */
  readonly sha256: string;
  /** IANA media type such as `image/png`. */
  readonly mediaType: string;
  readonly byteLength: number;
  readonly name?: string;
  /** Pixels, where known (images). */
  readonly width?: number;
  readonly height?: number;
}

/** Keys that each block of a model response may carry. */
export interface ResponsePart {
  /** Position in the native response, from 0; parts are replayed in this order. */
  readonly part?: number;
  readonly replay?: Replay;
}

export interface TextBlock extends ResponsePart {
  readonly type: 'text';
  readonly text: string;
}

/** The model declined. Shown to people as text; never mistaken for an answer. */
export interface RefusalBlock extends ResponsePart {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly media: MediaRef;
}

export interface AudioBlock {
  readonly type: 'audio';
  readonly media: MediaRef;
}

export interface FileBlock {
  readonly type: 'file';
  readonly media: MediaRef;
}

/** What no other block can hold, kept as it came. */
export interface ExtensionBlock extends ResponsePart {
  readonly type: 'extension';
  readonly name: string;
  readonly data: Json;
}

export type ContentBlock = TextBlock | ImageBlock | AudioBlock | FileBlock | ExtensionBlock;

/** Who put a user message there. `control` is sent to the model and hidden from people; `observed` is shown to the model for one step only. */
export type UserOrigin = 'user' | 'steer' | 'control' | 'observed';

/** What somebody told the model. */
export interface UserMessage {
  readonly kind: 'user_message';
  readonly schemaVersion: 1;
  /** Id under which the message was accepted (`send`), when it came from outside. */
  readonly messageId?: string;
  readonly origin: UserOrigin;
  readonly content: readonly ContentBlock[];
}

/** What the model said. Empty text makes no item. */
export interface AssistantMessage {
  readonly kind: 'assistant_message';
  readonly schemaVersion: 1;
  readonly response: ResponseRef;
  readonly content: readonly (TextBlock | RefusalBlock | ExtensionBlock)[];
  /** Present only when a cancel, or the last attempt's broken stream, cut it. */
  readonly interrupted?: true;
  /** Present only when the output limit cut it. */
  readonly truncated?: true;
}

/** One call that the model asks for. */
export interface ToolCall extends ResponsePart {
  /** Ours: unique in the session, minted when the response is committed. */
  readonly callId: string;
  /** The provider's id as received; empty when there was none. */
  readonly nativeId: string;
  /** Id under which the call goes to a provider; fixed when the call is appended (see `wire-ids`). */
  readonly wireId?: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** What came instead of a JSON object; such a call is never executed. */
  readonly rawArguments?: string;
  readonly argumentsError?: string;
}

/** The tools that one model response asks for: the response's last item, answered at once by one {@link ToolResultBatch} with the same ids in the same order. */
export interface ToolCallBatch {
  readonly kind: 'tool_call_batch';
  readonly schemaVersion: 1;
  readonly response: ResponseRef;
  /** At least one. */
  readonly calls: readonly ToolCall[];
}

/**
 * How a call ended. `aborted`: never started. `cancelled`: was running when it was cancelled, may have had effects.
 * `unknown_outcome`: its worker died while it ran.
 */
export type ToolResultStatus = 'ok' | 'error' | 'denied' | 'timed_out' | 'cancelled' | 'aborted' | 'unknown_outcome';

export interface ToolResult {
  readonly callId: string;
  readonly status: ToolResultStatus;
  /** What the model is shown. */
  readonly content: readonly ContentBlock[];
  /** Size of the full output in the store, when `content` is a cut of it. */
  readonly fullOutput?: { readonly bytes: number; readonly lines: number };
}

export interface ToolResultBatch {
  readonly kind: 'tool_result_batch';
  readonly schemaVersion: 1;
  readonly results: readonly ToolResult[];
}

/** The model's thinking, as far as the provider shows it. Text may be empty when only replay data came. */
export interface ReasoningSummary extends ResponsePart {
  readonly kind: 'reasoning_summary';
  readonly schemaVersion: 1;
  readonly response: ResponseRef;
  readonly text: string;
}

/** A tool that the provider itself ran: web search, code interpreter. */
export interface BuiltinToolEvent extends ResponsePart {
  readonly kind: 'builtin_tool_event';
  readonly schemaVersion: 1;
  readonly response: ResponseRef;
  readonly phase: 'call' | 'result';
  /** Ties a result to its call; the result may come in a later response. */
  readonly nativeId: string;
  readonly name: string;
  readonly payload: Json;
}

/** Stands for the items that a compaction replaced. Exists only in views, made from the latest `session_compactions` row. */
export interface CompactionSummary {
  readonly kind: 'compaction_summary';
  readonly schemaVersion: 1;
  readonly compactionId: string;
  readonly text: string;
}

export type AgentItem =
  | UserMessage
  | AssistantMessage
  | ToolCallBatch
  | ToolResultBatch
  | ReasoningSummary
  | BuiltinToolEvent
  | CompactionSummary;

export type ItemKind = AgentItem['kind'];

/** A whole conversation: one flat list, everything else is derived. */
export interface AgentTranscript {
  readonly items: readonly AgentItem[];
}

/** An item as the store keeps it. */
export interface TranscriptEntry {
  /** Position in the session, from 1, strictly increasing; superseded positions are never used again. */
  readonly seq: number;
  readonly runId: string;
  /** Step of the run that the item belongs to, from 0. */
  readonly step: number;
  readonly item: AgentItem;
}
