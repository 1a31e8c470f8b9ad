import type { StopReason, UnifiedStopReason } from '../../transcript/message.ts';
import { ProviderError } from '../errors.ts';

/** Their word to ours. An unknown word is an ordinary end: servers invent them, and asking again would not help. */
const STOP_REASONS: ReadonlyMap<string, UnifiedStopReason> = new Map([
  ['stop', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['spii', 'content_filter'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_overflow'],
]);

/** Words that say that the answer failed, not that it ended. */
const FAILURES: ReadonlyMap<string, ConstructorParameters<typeof ProviderError>[0]> = new Map([
  ['insufficient_system_resource', 'overloaded'], // DeepSeek
  ['error', 'server_error'], // OpenRouter
  ['network_error', 'server_error'], // Zhipu
  ['malformed_function_call', 'protocol'], // Gemini
]);

/** @throws ProviderError for a word that means a failure; `rawCode` has it. */
export function stopReasonOf(raw: string): StopReason {
  const word = raw.toLowerCase();
  const failure = FAILURES.get(word) ?? (word.includes('malformed_function_call') ? 'protocol' : undefined);
  if (failure !== undefined)
    throw new ProviderError(failure, `The server gave up: ${raw.slice(0, 100)}.`, { rawCode: raw });
  return { unified: STOP_REASONS.get(word) ?? 'stop', raw };
}
