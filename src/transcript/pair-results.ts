import type { AgentItem } from './items.ts';

/** Where a call or a result stands: the index of its item and its ordinal in it. */
export interface Place {
  readonly index: number;
  readonly ordinal: number;
}

/** A result and the call that it answers; `call` is `null` when there is none left to answer. */
export interface PairedResult extends Place {
  readonly callId: string;
  readonly call: Place | null;
  /** An earlier result took the call. */
  readonly duplicate: boolean;
}

/** Calls of one batch under one id: ordinals not yet answered, in order. */
interface Waiting {
  readonly index: number;
  readonly ordinals: number[];
  next: number;
}

/**
 * Pairs every result with the call before it that it answers, by occurrence: servers repeat ids from turn to turn.
 *
 * The nearest batch with an unanswered call of that id gets the result, within a batch the first such call. So a call
 * that was cut off does not take the result of a later one with its id, and the first recorded result is the one kept.
 * Linear.
 */
export function pairResults(items: readonly AgentItem[]): readonly PairedResult[] {
  const waiting = new Map<string, Waiting[]>();
  const paired: PairedResult[] = [];
  for (const [index, item] of items.entries()) {
    if (item.kind === 'tool_call_batch') {
      for (const [ordinal, call] of item.calls.entries()) wait(waiting, call.callId, index, ordinal);
    } else if (item.kind === 'tool_result_batch') {
      for (const [ordinal, { callId }] of item.results.entries()) {
        const stack = waiting.get(callId);
        paired.push({ index, ordinal, callId, call: take(stack), duplicate: stack !== undefined });
      }
    }
  }
  return paired;
}

function wait(waiting: Map<string, Waiting[]>, callId: string, index: number, ordinal: number): void {
  const stack = waiting.get(callId);
  const top = stack?.at(-1);
  if (stack === undefined) waiting.set(callId, [{ index, ordinals: [ordinal], next: 0 }]);
  else if (top?.index === index) top.ordinals.push(ordinal);
  else stack.push({ index, ordinals: [ordinal], next: 0 });
}

function take(stack: Waiting[] | undefined): Place | null {
  const top = stack?.at(-1);
  const ordinal = top?.ordinals[top.next];
  if (stack === undefined || top === undefined || ordinal === undefined) return null;
  top.next += 1;
  // The map keeps the emptied stack: a further result of that id is a duplicate, not a stranger.
  if (top.next === top.ordinals.length) stack.pop();
  return { index: top.index, ordinal };
}
