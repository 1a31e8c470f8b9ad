import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { ReplayScope, ResponsePart } from '../../transcript/items.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type { AssistantTurnMessage, Block, ThinkingBlock, ToolUseBlock } from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import type { WireLoss } from '../wire-loss.ts';
import { itemId, textsOf } from './replay-data.ts';

export type InputItem = OpenAI.Responses.ResponseInputItem;

export interface AssistantContext {
  readonly scope: ReplayScope;
  /** Id of the provider in the registry: its own reasoning text may go back to it. */
  readonly provider: string;
  readonly reasoning: 'encrypted' | 'text';
  readonly store: boolean;
  /** Ids on the wire by our call ids. */
  readonly callIds: ReadonlyMap<string, string>;
  /** Our ids of free-form calls, see {@link customCalls}. */
  readonly custom: ReadonlySet<string>;
  readonly lose: (loss: WireLoss) => void;
}

/** Replay data that may go to `scope`. */
export function dataFor(part: ResponsePart, scope: ReplayScope): JsonObject | undefined {
  return part.replay !== undefined && inScope(part.replay, scope) ? part.replay.data : undefined;
}

/** Reasoning blocks that go back as the items they were. One without encrypted content means nothing to a server that keeps none. */
export function keptReasoning(
  message: AssistantTurnMessage,
  context: AssistantContext,
): ReadonlyMap<Block, readonly InputItem[]> {
  const kept = new Map<Block, readonly InputItem[]>();
  if (context.reasoning === 'text') return kept;
  for (const block of message.content) {
    if (block.type !== 'thinking') continue;
    const item = reasoningItem(block, context);
    if (item !== undefined) kept.set(block, [item]);
  }
  return kept;
}

function reasoningItem(block: ThinkingBlock, { scope, store }: AssistantContext): InputItem | undefined {
  const data = dataFor(block, scope);
  const id = itemId('reasoning', data);
  if (data === undefined || id === undefined) return undefined;
  const encrypted = typeof data.encrypted === 'string' ? data.encrypted : undefined;
  if (encrypted === undefined && !store) return undefined;
  const summary = data.summary === undefined ? (block.text === '' ? [] : [block.text]) : textsOf(data.summary);
  return {
    type: 'reasoning',
    id,
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  };
}

/** All reasoning of a response as one text that the model can read; only its own goes back to it. */
export function reasoningText(message: AssistantTurnMessage, context: AssistantContext): string | undefined {
  const own = message.response?.provider === context.provider;
  const texts = message.content.flatMap((block) =>
    block.type === 'thinking' && block.text.trim() !== '' && (own || dataFor(block, context.scope) !== undefined)
      ? [block.text]
      : [],
  );
  return texts.length === 0 ? undefined : wellFormed(texts.join('\n\n'));
}

/**
 * The reasoning that led to a call, right before it: these servers make a message of every call and want reasoning in
 * each. The published schema wants an id even from servers that issue none: a stable one of our own.
 */
export function reasoningBefore(call: ToolUseBlock, text: string): InputItem {
  const id = `rs_${createHash('sha256').update(call.callId).digest('hex').slice(0, 24)}`;
  return { type: 'reasoning', id, summary: [], content: [{ type: 'reasoning_text', text }] };
}
