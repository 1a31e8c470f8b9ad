import { type AccumulatedResponse, createAccumulator } from '../providers/accumulator.ts';
import { ProviderError } from '../providers/errors.ts';
import { inputTruncatedByServer, overflowByEstimate, type RequestSize, silentOverflow } from '../providers/overflow.ts';
import type { MediaLookup } from '../providers/provider.ts';
import type { Target } from '../providers/request-target.ts';
import { replayTolerant } from '../providers/without-replay.ts';
import type { Delta } from '../store/store.ts';
import type { AgentItem } from '../transcript/items.ts';
import type { MessageRequest } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import { createDeltaWriter, type DeltaWriter } from './delta-writer.ts';
import { cancelRequested, workerShutdown } from './heartbeat.ts';
import { randomId } from './random-id.ts';

export interface Question {
  readonly target: Target;
  readonly request: MessageRequest;
  readonly media: MediaLookup;
  readonly signal: AbortSignal;
  /** Tells a heartbeat how far the answer is. */
  readonly note: (text: string) => void;
  /** Size of the request by our own estimate. */
  readonly size: () => RequestSize;
  readonly writeDeltas: (from: number, deltas: readonly Delta[]) => Promise<void>;
}

/** What came of a call: a whole response, or the part of one that a cancel left. */
export type Answer = ({ readonly response: AccumulatedResponse } | { readonly partial: readonly AgentItem[] }) & {
  /** Output limit that the request went out with at last, where the server made us lower it. */
  readonly loweredOutput?: number;
  /** The server reports far less input than we sent. */
  readonly truncatedInput?: { readonly estimated: number; readonly reported: number };
  /** The server refused replay data and got the request without any. */
  readonly withoutReplay?: true;
};

/** Fewer tokens are no answer: the conversation must be compacted instead. */
const LEAST_OUTPUT = 256;
/** Tokens left free when the output limit is fitted into the room that a server named. */
const MARGIN = 16;

/**
 * Asks one model once. Text goes to readers while it comes. A request that overflows only by its output limit goes out
 * once more with a lower one.
 *
 * @throws ProviderError; `WorkerShutdown` when aborted for any reason but a person's cancel.
 */
export async function askModel(question: Question): Promise<Answer> {
  try {
    return await stream(question);
  } catch (error) {
    const room = roomForOutput(error);
    if (room === undefined) throw error;
    const lowered = { ...question.request, maxOutputTokens: room };
    return { ...(await stream({ ...question, request: lowered })), loweredOutput: room };
  }
}

/** What a numbered overflow leaves for the answer, when that is enough. */
function roomForOutput(error: unknown): number | undefined {
  if (!(error instanceof ProviderError) || error.code !== 'context_overflow') return undefined;
  const { limit, input } = error.numbers;
  if (limit === undefined || input === undefined) return undefined;
  const room = limit - input - MARGIN;
  return room >= LEAST_OUTPUT ? room : undefined;
}

async function stream({ target, request, media, signal, note, size, writeDeltas }: Question): Promise<Answer> {
  const accumulator = createAccumulator({
    response: { provider: target.provider, api: target.api, model: target.model },
    scope: target.scope,
    mintCallId: () => randomId('call_'),
    mintResponseId: () => randomId('resp_'),
  });
  const deltas = createDeltaWriter(writeDeltas);
  let withoutReplay = false;
  const onReplayRejected = (): void => {
    withoutReplay = true;
  };
  const said = () => (withoutReplay ? { withoutReplay: true as const } : {});
  try {
    const stop = AbortSignal.any([signal, deltas.failed]);
    let characters = 0;
    for await (const event of replayTolerant(target.connection, request, { signal: stop, media, onReplayRejected })) {
      accumulator.add(event);
      characters += report(event, deltas);
      note(`${characters} characters received`);
    }
    await deltas.close();
    const response = accumulator.finish();
    const silent = silentOverflow({ ...response, empty: response.items.length === 0, window: size().window });
    if (silent !== undefined) throw silent;
    return { response, ...said(), ...truncatedInput(response, size()) };
  } catch (error) {
    await deltas.close().catch(() => undefined);
    if (deltas.failed.aborted) throw deltas.failed.reason;
    if (!signal.aborted) throw error instanceof ProviderError ? overflowByEstimate(error, size()) : error;
    if (!cancelRequested()) throw workerShutdown();
    return { partial: accumulator.partial(), ...said() };
  }
}

function truncatedInput({ usage }: AccumulatedResponse, size: RequestSize): Pick<Answer, 'truncatedInput'> {
  const tokens = { estimated: size.estimatedInputTokens, reported: usage?.inputTokens ?? 0 };
  return inputTruncatedByServer(tokens) ? { truncatedInput: tokens } : {};
}

/** Shows a piece of text to readers; how many characters it had. */
function report(event: StreamEvent, deltas: DeltaWriter): number {
  switch (event.type) {
    case 'text_delta':
    case 'refusal_delta':
      deltas.add({ kind: 'text', text: event.text });
      return event.text.length;
    case 'reasoning_delta':
      deltas.add({ kind: 'reasoning', text: event.text });
      return event.text.length;
    default:
      return 0;
  }
}
