import type { Logger } from 'pino';
import type { CallModelInput } from '../contract/activities.ts';
import { assertNever } from '../transcript/assert-never.ts';
import type { Api } from '../transcript/items.ts';
import type { Message, MessageRequest } from '../transcript/message.ts';
import type { Repair } from '../transcript/repair.ts';
import type { View } from '../transcript/view.ts';

type Where = { readonly session_id: string; readonly run_id: string; readonly step: number };

/** Tells operators what a request was made from, under the names that they know from such agents. */
export function logContext(log: Logger, { ref, step }: Pick<CallModelInput, 'ref' | 'step'>, view: View): void {
  const where: Where = { session_id: ref.sessionId, run_id: ref.runId, step };
  log.info({
    event: 'session_runner.history_context_built',
    ...where,
    items: view.items.length,
    tool_messages_missing_ids: count(view.repairs, 'call_ids'),
  });
  const counts = {
    dropped_orphans: count(view.repairs, 'orphans'),
    incomplete: count(view.repairs, 'incomplete'),
    other: count(view.repairs, 'other'),
  };
  if (counts.dropped_orphans > 0) {
    log.warn({
      event: 'provider.openai_compatible.dropped_orphan_tool_messages',
      ...where,
      count: counts.dropped_orphans,
    });
  }
  // Calls without a result are marked and kept: the name is the one that operators search for.
  if (counts.incomplete > 0) {
    log.warn({
      event: 'provider.openai_compatible.dropped_incomplete_tool_transcript',
      ...where,
      dropped: 0,
      marked: counts.incomplete,
    });
  }
  if (view.repairs.length > 0)
    log.warn({ event: 'provider.openai_compatible.sanitized_tool_transcript', ...where, ...counts });
}

/** `issue_count` over 0 means that a request still breaks the pairing of calls and results: a bug of ours. */
export function logProtocol(
  log: Logger,
  { ref, step }: Pick<CallModelInput, 'ref' | 'step'>,
  api: Api,
  request: MessageRequest,
): void {
  log.info({
    event: 'provider.openai_compatible.serialized_protocol',
    session_id: ref.sessionId,
    run_id: ref.runId,
    step,
    api,
    model: request.model,
    messages: request.messages.length,
    tools: request.tools.length,
    issue_count: pairingIssues(request.messages),
  });
}

/** Messages whose calls are not answered at once, in order, or whose results answer nothing. */
export function pairingIssues(messages: readonly Message[]): number {
  let issues = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []));
      const next = messages[index + 1];
      const results = next?.role === 'tool' ? next.content.map((block) => block.callId) : [];
      if (calls.join('\n') !== results.join('\n')) issues += 1;
    }
    if (message.role === 'tool' && messages[index - 1]?.role !== 'assistant') issues += 1;
  }
  return issues;
}

type Sort = 'call_ids' | 'orphans' | 'incomplete' | 'other';

function count(repairs: readonly Repair[], sort: Sort): number {
  return repairs.filter((repair) => sortOf(repair) === sort).length;
}

function sortOf(repair: Repair): Sort {
  switch (repair.code) {
    case 'call_id_changed':
      return 'call_ids';
    case 'result_removed':
    case 'item_removed':
      return 'orphans';
    case 'result_added':
      return 'incomplete';
    case 'item_moved':
    case 'batch_joined':
    case 'arguments_replaced':
    case 'replay_removed':
    case 'result_moved':
    case 'status_changed':
      return 'other';
    default:
      return assertNever(repair, 'repair');
  }
}
