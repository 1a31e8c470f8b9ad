import { builtinLinks } from './builtin-links.ts';
import { isEmptyItem } from './empty-item.ts';
import type { AgentItem, ReplayScope, ToolCallBatch, ToolResultBatch, ToolResultStatus } from './items.ts';
import { isJsonObject } from './json.ts';
import { inScope, isScoped, replaysOf } from './replay-scope.ts';
import { responseOf } from './response-runs.ts';

/** What is wrong. The number in the comment is that of the invariant. */
export type ViolationCode =
  /** 1, 3: a call has no result in the batch that must follow at once. */
  | 'result_missing'
  /** 1: results stand in another order than their calls. */
  | 'result_order'
  /** 1: a second result for the same call. */
  | 'result_duplicate'
  /** 1: something of the same response stands behind its calls. */
  | 'response_after_batch'
  /** 2: a result whose call is not in the batch right before. */
  | 'result_orphan'
  /** 2: a builtin result whose call is not in its group. */
  | 'builtin_result_orphan'
  /** 4: a call id was used before. */
  | 'call_id_duplicate'
  /** 4: a call id is empty. */
  | 'call_id_empty'
  /** 4: a `seq` is not above the one before it, or is missing. */
  | 'seq_not_increasing'
  /** 5: something inside a group that is no part of it. */
  | 'stray_in_group'
  /** 6: replay data does not say where it may go. */
  | 'replay_unscoped'
  /** 6: replay data is about to go where it does not belong. */
  | 'replay_out_of_scope'
  /** 7: arguments are no JSON object. */
  | 'arguments_not_object'
  /** 7: a call whose arguments could not be read has a result that says it ran. */
  | 'unparsable_call_executed'
  /** An item that says nothing and has nothing to replay. */
  | 'item_empty';

export interface Violation {
  readonly code: ViolationCode;
  /** Position of the item in the list, from 0. */
  readonly index: number;
  /** For people. */
  readonly message: string;
  readonly callId?: string;
}

export interface ValidateOptions {
  /** `open`: the last item may be a batch that still runs and has no results yet. */
  readonly tail: 'closed' | 'open';
  /** The `seq` of each item, where there are any. */
  readonly seqs?: readonly number[];
  /** Where the list is about to go; absent: replay data is only checked for having a scope. */
  readonly target?: ReplayScope;
}

/** Statuses that say a call was begun, which a call without readable arguments never is. */
export const CLAIMS_EXECUTION: Readonly<Record<ToolResultStatus, boolean>> = {
  ok: true,
  timed_out: true,
  cancelled: true,
  unknown_outcome: true,
  error: false,
  denied: false,
  aborted: false,
};

/** Checks every invariant of a transcript; persistence, trimming, compaction and serialisation all ask here. Linear. */
export function validate(items: readonly AgentItem[], options: ValidateOptions): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (code: ViolationCode, index: number, message: string, callId?: string): void => {
    violations.push({ code, index, message, ...(callId === undefined ? {} : { callId }) });
  };
  const callIds = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (isEmptyItem(item)) report('item_empty', index, `${item.kind} is empty`);
    if (item.kind === 'tool_call_batch') {
      checkCalls(item, index, callIds, report);
      checkAnswers(items, item, index, options.tail, report);
    } else if (item.kind === 'tool_result_batch') checkResults(item, items[index - 1], index, report);
    checkReplay(item, index, options.target, report);
  }
  checkGroups(items, report);
  if (options.seqs !== undefined) checkSeqs(items.length, options.seqs, report);
  return violations.sort((left, right) => left.index - right.index);
}

type Report = (code: ViolationCode, index: number, message: string, callId?: string) => void;

function checkCalls(batch: ToolCallBatch, index: number, seen: Set<string>, report: Report): void {
  for (const { callId, arguments: args } of batch.calls) {
    if (callId === '') report('call_id_empty', index, 'a call has an empty id', callId);
    else if (seen.has(callId)) report('call_id_duplicate', index, `call id ${callId} was used before`, callId);
    seen.add(callId);
    if (!isJsonObject(args)) report('arguments_not_object', index, `arguments of ${callId} are no object`, callId);
  }
}

function checkAnswers(
  items: readonly AgentItem[],
  batch: ToolCallBatch,
  index: number,
  tail: ValidateOptions['tail'],
  report: Report,
): void {
  const next = items[index + 1];
  if (next !== undefined && responseOf(next)?.id === batch.response.id) {
    report('response_after_batch', index + 1, `${next.kind} stands behind the calls of its response`);
  }
  if (next === undefined && tail === 'open') return;
  const results = next?.kind === 'tool_result_batch' ? next.results : [];
  const ids = new Set(results.map(({ callId }) => callId));
  for (const { callId } of batch.calls) {
    if (!ids.has(callId)) report('result_missing', index, `call ${callId} has no result`, callId);
  }
}

function checkResults(item: ToolResultBatch, before: AgentItem | undefined, index: number, report: Report): void {
  const calls = before?.kind === 'tool_call_batch' ? before.calls : [];
  if (calls.length === 0 && item.results.length === 0) report('item_empty', index, 'tool_result_batch is empty');
  const known = new Map(calls.map((call, ordinal) => [call.callId, { call, ordinal }]));
  const answered = new Set<string>();
  let last = -1;
  for (const { callId, status } of item.results) {
    const answer = known.get(callId);
    if (answer === undefined) {
      report('result_orphan', index, `result ${callId} answers no call right before it`, callId);
      continue;
    }
    if (answered.has(callId)) report('result_duplicate', index, `call ${callId} has two results`, callId);
    else if (answer.ordinal < last) report('result_order', index, `result ${callId} is out of order`, callId);
    answered.add(callId);
    last = Math.max(last, answer.ordinal);
    if (answer.call.argumentsError !== undefined && CLAIMS_EXECUTION[status]) {
      report('unparsable_call_executed', index, `call ${callId} has no readable arguments, yet is ${status}`, callId);
    }
  }
}

function checkReplay(item: AgentItem, index: number, target: ReplayScope | undefined, report: Report): void {
  for (const { replay } of replaysOf(item)) {
    if (!isScoped(replay)) report('replay_unscoped', index, `replay data of ${item.kind} has no scope`);
    else if (target !== undefined && !inScope(replay, target)) {
      report('replay_out_of_scope', index, `replay data of ${item.kind} belongs to ${replay.scope.endpoint}`);
    }
  }
}

function checkGroups(items: readonly AgentItem[], report: Report): void {
  const { orphans, strays } = builtinLinks(items);
  for (const index of orphans) report('builtin_result_orphan', index, 'a builtin result has no call in its group');
  for (const { index } of strays) report('stray_in_group', index, `${items[index]?.kind} stands inside a group`);
}

function checkSeqs(length: number, seqs: readonly number[], report: Report): void {
  for (let index = 0; index < length; index += 1) {
    const seq = seqs[index];
    const before = index === 0 ? 0 : (seqs[index - 1] ?? Number.NaN);
    if (seq === undefined || !(seq > before)) {
      report('seq_not_increasing', index, `seq ${seq ?? 'missing'} follows ${before}`);
    }
  }
}
