import type { ItemKind, ToolResult, ToolResultStatus } from './items.ts';

/**
 * One thing that `normalize` did to a transcript. JSON; exact enough that the output follows from input and repairs.
 *
 * Indexes are positions in the input list, ordinals positions within an item; once the calls of a response stand in one
 * batch, results are told by the ordinals that their calls have there. Result batches are rebuilt: each stands right
 * behind its call batch, one result a call; a result not named here stays with the call batch that its item follows, in
 * the places that no named result takes.
 */
export type Repair =
  /** An item that said nothing, a builtin result without its call, or a builtin call under a used id is gone. */
  | {
      readonly code: 'item_removed';
      readonly index: number;
      readonly kind: ItemKind;
      readonly reason: 'empty' | 'orphan' | 'duplicate';
    }
  /** The item now stands after item `after` (and after its results and what moved there before). */
  | { readonly code: 'item_moved'; readonly index: number; readonly after: number }
  /** The calls now stand in batch `into` of the same response, calls of all joined batches in order of input. */
  | { readonly code: 'batch_joined'; readonly index: number; readonly into: number }
  /** A call id that was used before (or empty) was replaced, in the call and its result. */
  | {
      readonly code: 'call_id_changed';
      readonly index: number;
      readonly call: number;
      readonly from: string;
      readonly to: string;
    }
  /** Arguments that were no JSON object became `{}`, and what they were is kept as raw text. */
  | {
      readonly code: 'arguments_replaced';
      readonly index: number;
      readonly call: number;
      readonly rawArguments: string;
      readonly argumentsError: string;
    }
  /** Replay data that does not say where it may go is gone. `place`: ordinal of block or call; `null`: the item's own. */
  | { readonly code: 'replay_removed'; readonly index: number; readonly place: number | null }
  /** Call `call` of batch `index` had no result and got this one. */
  | { readonly code: 'result_added'; readonly index: number; readonly call: number; readonly result: ToolResult }
  /** Result `result` of item `index` now answers call `call` of batch `batch`. */
  | {
      readonly code: 'result_moved';
      readonly index: number;
      readonly result: number;
      readonly batch: number;
      readonly call: number;
    }
  /** A result without a call before it, or the second one for its call, is gone. */
  | {
      readonly code: 'result_removed';
      readonly index: number;
      readonly result: number;
      readonly callId: string;
      readonly reason: 'orphan' | 'duplicate';
    }
  /** The result of a call that cannot have run claimed that it had. */
  | {
      readonly code: 'status_changed';
      readonly index: number;
      readonly call: number;
      readonly from: ToolResultStatus;
      readonly to: ToolResultStatus;
    };

export type RepairCode = Repair['code'];
