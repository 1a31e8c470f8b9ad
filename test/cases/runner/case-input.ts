import type { Known } from './call-once.ts';
import { isObj, type Obj, objs, str } from './case-file.ts';
import type { Answer } from './replay-server.ts';

/** What the case says the client knows of the request. */
export function knownOf(input: Obj): Known {
  const context = isObj(input.context) ? input.context : {};
  const window = input.configured_window ?? context.window;
  const estimated = input.estimated_prompt_tokens ?? context.estimated_prompt_tokens ?? context.token_usage;
  return {
    ...(typeof window === 'number' ? { window } : {}),
    ...(typeof estimated === 'number' ? { estimatedInputTokens: estimated } : {}),
  };
}

export function modelOf(input: Obj): string | undefined {
  return typeof input.model === 'string' ? input.model : undefined;
}

/** The answers of a case, in order. */
export function recorded(input: Obj): Answer[] {
  const entries = Array.isArray(input.exchange) ? objs(input.exchange) : [input];
  return entries.map((entry) => ({
    http: isObj(entry.http) ? entry.http : entry,
    end: str(entry.end, 'close'),
  }));
}
