import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';

const FIELDS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const;

/**
 * Follows the usage of one response: the counts are cumulative, a later event replaces an earlier one key by key, and a
 * key that is absent, `null` or back at zero says nothing new. Input is what was read afresh plus both cache parts.
 */
export function createUsageMeter(): { read(usage: Json | undefined): readonly StreamEvent[] } {
  const seen = new Map<string, number>();
  return {
    read(usage) {
      if (!isJsonObject(usage)) return [];
      for (const field of FIELDS) keep(seen, field, usage[field]);
      keep(seen, 'thinking_tokens', thinkingTokens(usage));
      if (seen.size === 0) return [];
      const of = (field: string): number => seen.get(field) ?? 0;
      const [read, write] = [of('cache_read_input_tokens'), of('cache_creation_input_tokens')];
      return [
        {
          type: 'usage',
          usage: {
            inputTokens: of('input_tokens') + read + write,
            outputTokens: of('output_tokens'),
            cacheReadTokens: read,
            cacheWriteTokens: write,
            reasoningTokens: of('thinking_tokens'),
          },
        },
      ];
    },
  };
}

function keep(seen: Map<string, number>, field: string, value: Json | undefined): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return;
  if (value > 0 || !seen.has(field)) seen.set(field, value);
}

function thinkingTokens(usage: JsonObject): Json | undefined {
  const details = usage.output_tokens_details;
  return isJsonObject(details) ? details.thinking_tokens : undefined;
}
