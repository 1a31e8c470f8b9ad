import type { AssistantTurnMessage, Block, Message, MessageRequest } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import { ProviderError } from './errors.ts';
import type { Provider, StreamOptions } from './provider.ts';

/**
 * The same request without anything that only its maker can read: thinking, replay data, and what providers' own tools
 * left. Texts, calls and results all stay. Adapters do the rest (no thinking in a tool turn that lacks it, no item ids).
 */
export function withoutReplay(request: MessageRequest): MessageRequest {
  return { ...request, messages: request.messages.map(bare) };
}

function bare(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.flatMap((block): readonly Block[] => {
    if (block.type === 'thinking' || block.type === 'builtin_tool') return [];
    if (!('replay' in block)) return [block];
    const { replay: _, ...rest } = block;
    return [rest];
  });
  return { ...message, content } satisfies AssistantTurnMessage;
}

export interface ReplayTolerantOptions extends StreamOptions {
  /** Told when the request was refused for its replay data and goes out once more without any. */
  readonly onReplayRejected?: (error: ProviderError) => void;
}

/**
 * One model call that survives the loss of replay data: a request refused with `replay_rejected` (another account, a key
 * that was rotated, a signature gone stale) is rebuilt once without it. Anything else, and a second refusal, is passed on.
 */
export async function* replayTolerant(
  provider: Provider,
  request: MessageRequest,
  { onReplayRejected, ...options }: ReplayTolerantOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  let started = false;
  try {
    for await (const event of provider.stream(request, options)) {
      started = true;
      yield event;
    }
    return;
  } catch (error) {
    if (started || !(error instanceof ProviderError) || error.code !== 'replay_rejected') throw error;
    onReplayRejected?.(error);
  }
  yield* provider.stream(withoutReplay(request), options);
}
