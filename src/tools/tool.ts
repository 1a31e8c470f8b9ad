import type { z } from 'zod';
import type { ContentBlock } from '../transcript/items.ts';
import type { Json, JsonObject } from '../transcript/json.ts';
import type { ResultSemantic } from '../transcript/microcompact-score.ts';

/** MCP's words for what a tool does to the world; see the MCP specification, "Tool annotations". */
export interface ToolAnnotations {
  readonly title?: string;
  /** Changes nothing. Default false. */
  readonly readOnlyHint?: boolean;
  /** Calling again with the same arguments changes nothing more. Default false. */
  readonly idempotentHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  /** The same for every attempt of this call: hand it to systems that deduplicate. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Aborted on cancel, timeout and worker shutdown. */
  readonly signal: AbortSignal;
  /** Absolute path of the workspace root. */
  readonly workspace: string;
  /** Shows progress in the activity's heartbeat; at most 200 characters are kept. */
  readonly progress: (note: string) => void;
}

/** What a tool returns: text, JSON, or blocks. `isError` is MCP's flag for a failure that the model should read. */
export type ToolOutput =
  | Json
  | undefined
  | { readonly content: readonly ToolOutputBlock[]; readonly isError?: boolean };

/** Blocks with bytes inline; the activity stores the bytes and keeps a reference. */
export type ToolOutputBlock =
  | ContentBlock
  | {
      readonly type: 'image' | 'audio' | 'file';
      readonly mediaType: string;
      readonly base64: string;
      readonly name?: string;
    };

/** Answer of `reconcile`: what became of a call whose worker died. */
export type Reconciled =
  | { readonly outcome: 'done'; readonly output: ToolOutput }
  | { readonly outcome: 'not_done' }
  | { readonly outcome: 'unknown' };

/** A tool as the registry holds it; make it with `defineTool`. */
export interface Tool {
  /** 1 to 128 characters; mapped to a legal name where a provider is stricter. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the arguments, an object at the root. */
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  /** Default `mixed`. */
  readonly resultSemantic: ResultSemantic;
  /** Seconds; default 60. */
  readonly timeoutSecs?: number;
  /** Runs alone, never beside other calls of its batch. */
  readonly exclusive: boolean;
  /** The same call with the same result may be repeated without end (polling). */
  readonly pollable: boolean;
  /**
   * Answers at once, from memory or a small local read: it then runs on the workflows' own task queue, which spares each
   * call a trip through the server's queue of tools. For read-only tools; others are refused.
   */
  readonly quick: boolean;
  /** One line for people: what this call does, such as `read_file src/index.ts`. */
  label(args: JsonObject): string;
  /** Checks arguments. Never throws; `message` tells the model what to mend. */
  parse(
    args: JsonObject,
  ): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };
  execute(input: unknown, context: ToolContext): Promise<unknown> | unknown;
  reconcile?(input: unknown, context: ToolContext): Promise<Reconciled>;
}

/** What `defineTool` takes. */
export interface ToolDefinition<Input extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  /** A zod 4 schema (object at the root, or a union of objects); absent for no arguments. */
  readonly input?: Input;
  readonly annotations?: ToolAnnotations;
  readonly resultSemantic?: ResultSemantic;
  readonly timeoutSecs?: number;
  readonly exclusive?: boolean;
  readonly pollable?: boolean;
  /**
   * Answers at once, from memory or a small local read: it then runs on the workflows' own task queue, which spares each
   * call a trip through the server's queue of tools. For read-only tools; others are refused.
   */
  readonly quick?: boolean;
  readonly label?: (input: z.output<Input>) => string;
  readonly execute: (input: z.output<Input>, context: ToolContext) => Promise<unknown> | unknown;
  readonly reconcile?: (input: z.output<Input>, context: ToolContext) => Promise<Reconciled>;
}
