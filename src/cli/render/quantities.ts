import type { Usage } from '../../transcript/message.ts';

/** `12.3 s`, `2 min 05 s`, `3 h 20 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `850`, `12.4k`, `1.2M`. */
export function count(value: number): string {
  if (value < 1000) return String(Math.round(value));
  return value < 999_950 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999_950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `1.2k tokens in, 340 out`, with what came from a cache. */
export function tokens({ inputTokens, outputTokens, cacheReadTokens }: Usage): string {
  const cached = cacheReadTokens > 0 ? ` (${count(cacheReadTokens)} cached)` : '';
  return `${count(inputTokens)} tokens in${cached}, ${count(outputTokens)} out`;
}

export function price(usd: number): string {
  return usd > 0 && usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}
