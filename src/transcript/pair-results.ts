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
 * Of the calls under one id those of the last batch count, the first unanswered one of them first. So a call that was cut
 * off never takes the result of a later one with its id, and the first recorded result is the one kept. Linear.
 */
export function pairResults(items: readonly AgentItem[]): readonly PairedResult[] {
  const waiting = new Map<string, Waiting>();
  const paired: PairedResult[] = [];
  for (const [index, item] of items.entries()) {
    if (item.kind === 'tool_call_batch') {
      for (const [ordinal, call] of item.calls.entries()) wait(waiting, call.callId, index, ordinal);
    } else if (item.kind === 'tool_result_batch') {
      for (const [ordinal, { callId }] of item.results.entries()) {
        const calls = waiting.get(callId);
        paired.push({ index, ordinal, callId, call: take(calls), duplicate: calls !== undefined });
      }
    }
  }
  return paired;
}

function wait(waiting: Map<string, Waiting>, callId: string, index: number, ordinal: number): void {
  const calls = waiting.get(callId);
  if (calls?.index === index) calls.ordinals.push(ordinal);
  else waiting.set(callId, { index, ordinals: [ordinal], next: 0 });
}

function take(calls: Waiting | undefined): Place | null {
  const ordinal = calls?.ordinals[calls.next];
  if (calls === undefined || ordinal === undefined) return null;
  calls.next += 1;
  return { index: calls.index, ordinal };
}
