import type { Json, JsonObject } from './json.ts';
import type { StopReason, Usage } from './message.ts';

/**
 * What an adapter reports while a response arrives, in the order received.
 *
 * `part` is the position of the block in the native response. A stream that ends without `finished` broke off: the
 * accumulator turns that into `incomplete_stream`, and no half call is ever executed.
 */
export type StreamEvent =
  | { readonly type: 'response_started'; readonly id: string; readonly model: string }
  | { readonly type: 'text_delta'; readonly part: number; readonly text: string }
  | { readonly type: 'refusal_delta'; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly part: number; readonly text: string }
  /** The first event of a part names the call; `arguments` are appended as they come. */
  | {
      readonly type: 'tool_call_delta';
      readonly part: number;
      readonly nativeId?: string;
      readonly name?: string;
      readonly arguments?: string;
    }
  | {
      readonly type: 'builtin_tool';
      readonly part: number;
      readonly phase: 'call' | 'result';
      readonly nativeId: string;
      readonly name: string;
      readonly payload: Json;
    }
  /** What that part must be replayed with; the keys of several events for one part are merged. */
  | { readonly type: 'replay'; readonly part: number; readonly data: JsonObject }
  /** A part whose whole content arrived; after it no delta of that part comes. Optional. */
  | { readonly type: 'part_done'; readonly part: number }
  /** Later values replace earlier ones key by key. Unknown usage makes no event. */
  | { readonly type: 'usage'; readonly usage: Partial<Usage> }
  | { readonly type: 'finished'; readonly stopReason: StopReason };
