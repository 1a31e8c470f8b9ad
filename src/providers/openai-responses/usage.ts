import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';

/** The usage of a response. Here input already includes what came from the cache, and output what went into reasoning. */
export function usageEvents(usage: Json | undefined): readonly StreamEvent[] {
  if (!isJsonObject(usage)) return [];
  const [input, output] = [count(usage.input_tokens), count(usage.output_tokens)];
  if (input === undefined && output === undefined) return [];
  const details = objectOf(usage.input_tokens_details);
  return [
    {
      type: 'usage',
      usage: {
        inputTokens: input ?? 0,
        outputTokens: output ?? 0,
        cacheReadTokens: count(details.cached_tokens) ?? 0,
        cacheWriteTokens: count(details.cache_write_tokens) ?? 0,
        reasoningTokens: count(objectOf(usage.output_tokens_details).reasoning_tokens) ?? 0,
      },
    },
  ];
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
