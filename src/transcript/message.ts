import type {
  AudioBlock,
  ExtensionBlock,
  FileBlock,
  ImageBlock,
  ResponsePart,
  ResponseRef,
  TextBlock,
  ToolResultStatus,
} from './items.ts';
import type { Json, JsonObject } from './json.ts';

/** The model asks for a tool. */
export interface ToolUseBlock extends ResponsePart {
  readonly type: 'tool_use';
  /** Id within the session; adapters map it to what their wire takes (see `wire-ids`). */
  readonly callId: string;
  readonly nativeId: string;
  readonly wireId?: string;
  readonly name: string;
  readonly input: JsonObject;
  /** What the model really wrote, when it was no JSON object; `input` is then its stand-in. */
  readonly rawInput?: string;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly callId: string;
  /** Name of the tool that was called; some wires want it. */
  readonly name: string;
  readonly status: ToolResultStatus;
  readonly content: readonly (TextBlock | ImageBlock | AudioBlock | FileBlock | ExtensionBlock)[];
}

export interface ThinkingBlock extends ResponsePart {
  readonly type: 'thinking';
  readonly text: string;
}

/** The model declined, in its own words. */
export interface RefusedBlock extends ResponsePart {
  readonly type: 'refusal';
  readonly text: string;
}

/** A tool that the provider ran; goes back only to the wire format it came from. */
export interface BuiltinToolBlock extends ResponsePart {
  readonly type: 'builtin_tool';
  readonly phase: 'call' | 'result';
  readonly nativeId: string;
  readonly name: string;
  readonly payload: Json;
}

export type Block =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | FileBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RefusedBlock
  | BuiltinToolBlock
  | ExtensionBlock;

export interface SystemMessage {
  readonly role: 'system';
  readonly content: readonly Block[];
}
export interface UserTurnMessage {
  readonly role: 'user';
  readonly content: readonly Block[];
}
/** One model response (or the part of it that was kept), parts in native order. */
export interface AssistantTurnMessage {
  readonly role: 'assistant';
  readonly content: readonly Block[];
  /** Absent for messages that no known model wrote (imports). */
  readonly response?: ResponseRef;
}
/** The results of one batch, in the order of its calls. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultBlock[];
}

/** Provider-neutral request IR. Adapters turn it into wire requests. */
export type Message = SystemMessage | UserTurnMessage | AssistantTurnMessage | ToolMessage;

/** A tool as the model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the arguments; the root is an object schema. */
  readonly inputSchema: JsonObject;
  /** What a tool server claimed of its tool's effects when the run opened: frozen with the run, never told to the model. */
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
  };
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** One model call. A system prompt is a `system` message: there is no other place for it. */
export interface MessageRequest {
  /** Model id as the endpoint knows it, without the provider's prefix. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** Default `auto`. */
  readonly toolChoice?: ToolChoice;
  /** Tokens. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Thinking, where the model can: tokens to spend, or an effort word. Absent: the model's default. */
  readonly thinking?: { readonly budgetTokens?: number; readonly effort?: 'low' | 'medium' | 'high' } | 'off';
  /** JSON Schema that the final text must fit (structured output). */
  readonly outputSchema?: { readonly name: string; readonly schema: JsonObject };
}

/** Tokens of one or more model calls. `input` includes both cache parts; `output` includes reasoning. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

export type UnifiedStopReason =
  | 'stop'
  | 'tool_calls'
  | 'length'
  | 'refusal'
  | 'content_filter'
  | 'pause'
  | 'context_overflow';

/** Why the model stopped, in our word and in the provider's. */
export interface StopReason {
  readonly unified: UnifiedStopReason;
  /** The provider's word; `null` when it gave none. */
  readonly raw: string | null;
}
