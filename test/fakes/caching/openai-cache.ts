import type { PromptCache } from './anthropic-cache.ts';

const STEP = 128;
const LIFETIME_MS = 5 * 60_000;

/**
 * Automatic prefix caching (https://platform.openai.com/docs/guides/prompt-caching): prompts of 1,024 tokens and more, hits
 * in steps of 128 tokens, kept for five minutes after the last use. Tools and the schema of a structured answer stand
 * before the messages. Writing costs nothing.
 */
export function openaiCache(now: () => number, minimumTokens: number): PromptCache {
  const entries = new Map<string, number>();
  return {
    bill(body, blocks) {
      const tokens = blocks.flatMap((block) => block.tokens);
      const keys = prefixKeys(String(body.model), tokens, minimumTokens);
      let read = 0;
      for (const [length, key] of keys) {
        if ((entries.get(key) ?? 0) <= now()) break;
        read = length;
      }
      for (const [, key] of keys) entries.set(key, now() + LIFETIME_MS);
      return { uncached: tokens.length - read, read, written5m: 0, written1h: 0 };
    },
  };
}

/** Lengths at which a prefix can be found, with its key. */
function prefixKeys(model: string, tokens: readonly number[], minimumTokens: number): [number, string][] {
  const keys: [number, string][] = [];
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (const [at, token] of tokens.entries()) {
    low = Math.imul(low ^ token, 0x01000193) >>> 0;
    high = Math.imul(high ^ (token + at), 0x85ebca6b) >>> 0;
    const length = at + 1;
    if (length >= minimumTokens && (length - minimumTokens) % STEP === 0)
      keys.push([length, `${model} ${length} ${low} ${high}`]);
  }
  return keys;
}
