import { type AccumulatedResponse, createAccumulator } from '../../../src/providers/accumulator.ts';
import { ProviderError } from '../../../src/providers/errors.ts';
import { inputTruncatedByServer, overflowByEstimate, silentOverflow } from '../../../src/providers/overflow.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { MessageRequest, Usage } from '../../../src/transcript/message.ts';
import type { Lab } from './lab.ts';
import type { Observation, SeenError } from './observation.ts';
import type { Target } from './target.ts';

/** What the client knows of a request, in tokens. */
export interface Known {
  readonly window?: number;
  readonly estimatedInputTokens?: number;
}

/** What one model call gave: what a check may ask, and the items for the next request. */
export interface CallOutcome {
  readonly seen: Observation;
  readonly items: readonly AgentItem[];
}

/** Makes one call through the real provider against the lab's server. Only bugs of ours reject. */
export async function callOnce(lab: Lab, target: Target, request: MessageRequest, known: Known): Promise<CallOutcome> {
  const provider = lab.provider(target);
  const accumulator = createAccumulator({
    response: { provider: provider.id, api: provider.api, model: request.model },
    scope: provider.scope(request.model),
    mintCallId: lab.mintCallId,
  });
  try {
    for await (const event of provider.stream(request, { signal: new AbortController().signal }))
      accumulator.add(event);
    const response = accumulator.finish();
    const overflow = silentOverflow({ ...response, empty: response.items.length === 0, window: known.window });
    // A stop word that says so is an answer cut by the window, which the caller still gets; see `seenAnswer`.
    if (overflow !== undefined && response.stopReason.unified !== 'context_overflow') throw overflow;
    return { seen: seenAnswer(response, known), items: response.items };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const partial = accumulator.partial();
    return { seen: { error: seenError(error, known), partialText: textOf(partial, 'text') }, items: partial };
  }
}

function seenAnswer(response: AccumulatedResponse, known: Known): Observation {
  const { stopReason, usage, text, items } = response;
  const calls = items.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : []));
  const estimated = known.estimatedInputTokens;
  const truncated =
    estimated !== undefined && usage !== null && inputTruncatedByServer({ estimated, reported: usage.inputTokens });
  const refusal = textOf(items, 'refusal');
  return {
    error: null,
    finish: stopReason.unified,
    rawFinish: stopReason.raw,
    text: refusal === '' ? text : textOf(items, 'text'),
    refusal,
    explanation: refusal,
    reasoning: items.map((item) => (item.kind === 'reasoning_summary' ? item.text : '')).join(''),
    calls: calls.map((call) => ({
      id: call.nativeId,
      callId: call.callId,
      name: call.name,
      args: call.rawArguments ?? call.arguments,
    })),
    usage: usage === null ? null : seenUsage(usage),
    signals: truncated ? ['input_truncated_by_server'] : [],
  };
}

/** Usage under the names that checks use. */
function seenUsage(usage: Usage) {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cache_read: usage.cacheReadTokens,
    cache_write: usage.cacheWriteTokens,
    reasoning: usage.reasoningTokens,
  };
}

/** An error in the words of the checks, after what the client's own knowledge makes of it. */
function seenError(thrown: ProviderError, known: Known): SeenError {
  const { window, estimatedInputTokens } = known;
  const error =
    window === undefined || estimatedInputTokens === undefined
      ? thrown
      : overflowByEstimate(thrown, { window, estimatedInputTokens });
  const { limit, requested, input, output } = error.numbers;
  const defined = {
    code: error.rawCode,
    status: error.status,
    retryAfterMs: error.retryAfterMs,
    limit,
    requested,
    input,
    output,
  };
  return {
    class: error.code,
    retryable: error.retryable,
    remedy: error.remedy,
    message: error.message,
    ...(Object.fromEntries(Object.entries(defined).filter(([, value]) => value !== undefined)) as Partial<SeenError>),
  };
}

function textOf(items: readonly AgentItem[], type: 'text' | 'refusal'): string {
  return items
    .flatMap((item) => (item.kind === 'assistant_message' ? item.content : []))
    .map((block) => (block.type === type ? block.text : ''))
    .join('');
}
