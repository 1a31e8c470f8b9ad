import { builtinLinks } from './builtin-links.ts';
import { isEmptyItem } from './empty-item.ts';
import type { AgentItem, ItemKind, ReplayScope, ToolCallBatch, ToolResultBatch, ToolResultStatus } from './items.ts';
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
  /** 4: a builtin call's id was used before. */
  | 'builtin_call_repeated'
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

/** What a violation says to people; `kind` is that of the item. */
const MESSAGES: Readonly<Record<ViolationCode, (kind: ItemKind, callId: string | undefined) => string>> = {
  result_missing: (_, callId) => `call ${callId} has no result`,
  result_order: (_, callId) => `result ${callId} stands in another order than its call`,
  result_duplicate: (_, callId) => `call ${callId} has two results`,
  response_after_batch: (kind) => `${kind} stands behind the calls of its response`,
  result_orphan: (_, callId) => `result ${callId} answers no call right before it`,
  builtin_result_orphan: () => 'a builtin result has no call in its group',
  builtin_call_repeated: () => 'the id of a builtin call was used before',
  call_id_duplicate: (_, callId) => `call id ${callId} was used before`,
  call_id_empty: () => 'a call has an empty id',
  seq_not_increasing: (kind) => `seq of ${kind} is missing or not above the one before`,
  stray_in_group: (kind) => `${kind} stands inside a group`,
  replay_unscoped: (kind) => `replay data of ${kind} does not say where it may go`,
  replay_out_of_scope: (kind) => `replay data of ${kind} belongs elsewhere`,
  arguments_not_object: (_, callId) => `arguments of call ${callId} are no object`,
  unparsable_call_executed: (_, callId) => `call ${callId} has unreadable arguments, yet its result says that it ran`,
  item_empty: (kind) => `${kind} is empty`,
};

type Report = (code: ViolationCode, index: number, callId?: string) => void;

/** Checks every invariant of a transcript; persistence, trimming, compaction and serialisation all ask here. Linear. */
export function validate(items: readonly AgentItem[], options: ValidateOptions): readonly Violation[] {
  const violations: Violation[] = [];
  check(items, options, (code, index, callId) => {
    const kind = items[index]?.kind ?? 'user_message';
    const message = MESSAGES[code](kind, callId);
    violations.push({ code, index, message, ...(callId === undefined ? {} : { callId }) });
  });
  return violations.sort((left, right) => left.index - right.index);
}

/** Whether `validate` would find nothing; cheaper when it would find much. */
export function isValid(items: readonly AgentItem[], options: ValidateOptions): boolean {
  let valid = true;
  check(items, options, () => {
    valid = false;
  });
  return valid;
}

function check(items: readonly AgentItem[], options: ValidateOptions, report: Report): void {
  const callIds = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (isEmptyItem(item)) report('item_empty', index);
    if (item.kind === 'tool_call_batch') {
      checkCalls(item, index, callIds, report);
      checkAnswers(items, item, index, options.tail, report);
    } else if (item.kind === 'tool_result_batch') checkResults(item, items[index - 1], index, report);
    checkReplay(item, index, options.target, report);
  }
  checkGroups(items, report);
  if (options.seqs !== undefined) checkSeqs(items.length, options.seqs, report);
}

function checkCalls(batch: ToolCallBatch, index: number, seen: Set<string>, report: Report): void {
  for (const { callId, arguments: args } of batch.calls) {
    if (callId === '') report('call_id_empty', index, callId);
    else if (seen.has(callId)) report('call_id_duplicate', index, callId);
    seen.add(callId);
    if (!isJsonObject(args)) report('arguments_not_object', index, callId);
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
    report('response_after_batch', index + 1);
  }
  if (next === undefined && tail === 'open') return;
  const results = next?.kind === 'tool_result_batch' ? next.results : [];
  const ids = new Set(results.map(({ callId }) => callId));
  for (const { callId } of batch.calls) {
    if (!ids.has(callId)) report('result_missing', index, callId);
  }
}

function checkResults(item: ToolResultBatch, before: AgentItem | undefined, index: number, report: Report): void {
  const calls = before?.kind === 'tool_call_batch' ? before.calls : [];
  if (calls.length === 0 && item.results.length === 0) report('item_empty', index);
  const known = new Map(calls.map((call, ordinal) => [call.callId, { call, ordinal }]));
  const answered = new Set<string>();
  let last = -1;
  for (const { callId, status } of item.results) {
    const answer = known.get(callId);
    if (answer === undefined) {
      report('result_orphan', index, callId);
      continue;
    }
    if (answered.has(callId)) report('result_duplicate', index, callId);
    else if (answer.ordinal < last) report('result_order', index, callId);
    answered.add(callId);
    last = Math.max(last, answer.ordinal);
    if (answer.call.argumentsError !== undefined && CLAIMS_EXECUTION[status]) {
      report('unparsable_call_executed', index, callId);
    }
  }
}

function checkReplay(item: AgentItem, index: number, target: ReplayScope | undefined, report: Report): void {
  for (const { replay } of replaysOf(item)) {
    if (!isScoped(replay)) report('replay_unscoped', index);
    else if (target !== undefined && !inScope(replay, target)) {
      report('replay_out_of_scope', index);
    }
  }
}

function checkGroups(items: readonly AgentItem[], report: Report): void {
  const { orphans, repeats, strays } = builtinLinks(items);
  for (const index of repeats) report('builtin_call_repeated', index);
  for (const index of orphans) report('builtin_result_orphan', index);
  for (const { index } of strays) report('stray_in_group', index);
}

function checkSeqs(length: number, seqs: readonly number[], report: Report): void {
  for (let index = 0; index < length; index += 1) {
    const seq = seqs[index];
    const before = index === 0 ? 0 : (seqs[index - 1] ?? Number.NaN);
    if (seq === undefined || !(seq > before)) {
      report('seq_not_increasing', index);
    }
  }
}
