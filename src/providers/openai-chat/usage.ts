import { isJsonObject, type JsonObject } from '../../transcript/json.ts';
import type { Usage } from '../../transcript/message.ts';

/** The usage in a chunk or response, wherever a server puts it; `undefined` when it says nothing, or only zeros. */
export function usageOf(chunk: JsonObject): Partial<Usage> | undefined {
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  const groq = isJsonObject(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  const found = [chunk.usage, isJsonObject(choice) ? choice.usage : undefined, groq].find(isJsonObject);
  if (found === undefined) return undefined;
  const input = tokens(found.prompt_tokens) ?? tokens(found.input_tokens);
  const output = tokens(found.completion_tokens) ?? tokens(found.output_tokens);
  if (!input && !output) return undefined;
  const prompt = isJsonObject(found.prompt_tokens_details) ? found.prompt_tokens_details : {};
  const completion = isJsonObject(found.completion_tokens_details) ? found.completion_tokens_details : {};
  return {
    ...entry('inputTokens', input),
    ...entry('outputTokens', output),
    ...entry(
      'cacheReadTokens',
      tokens(prompt.cached_tokens) ?? tokens(found.prompt_cache_hit_tokens) ?? tokens(found.cached_tokens),
    ),
    ...entry('cacheWriteTokens', tokens(prompt.cache_write_tokens) ?? tokens(found.cache_creation_input_tokens)),
    ...entry('reasoningTokens', tokens(completion.reasoning_tokens) ?? tokens(found.reasoning_tokens)),
  };
}

function entry<K extends keyof Usage>(key: K, value: number | undefined): { readonly [P in K]?: number } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: number });
}

function tokens(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
