import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';

/** Puts OpenRouter's `reasoning_details` together: pieces of one entry come under one `index`, and must go back as one. */
export interface DetailCollector {
  push(details: Json | undefined): void;
  /** Replay data, when there were any. */
  replay(): JsonObject | undefined;
}

/** Keys whose pieces are joined; every other key keeps its last value. */
const GROWING: readonly string[] = ['text', 'summary', 'data'];

export function createDetailCollector(): DetailCollector {
  const entries: Record<string, Json>[] = [];
  return {
    push(details) {
      if (!Array.isArray(details)) return;
      for (const detail of details) {
        if (!isJsonObject(detail)) continue;
        const known = entries.find(
          (entry) => detail.index !== undefined && entry.index === detail.index && entry.type === detail.type,
        );
        if (known === undefined) entries.push({ ...detail });
        else merge(known, detail);
      }
    },
    replay: () => (entries.length === 0 ? undefined : { reasoning_details: entries }),
  };
}

function merge(known: Record<string, Json>, piece: JsonObject): void {
  for (const [key, value] of Object.entries(piece)) {
    const before = known[key];
    if (GROWING.includes(key) && typeof before === 'string' && typeof value === 'string') known[key] = before + value;
    else if (value !== null && value !== '') known[key] = value;
  }
}
