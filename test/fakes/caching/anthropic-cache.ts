import { createHash } from 'node:crypto';
import { isObject, type Obj } from '../../wire-laws/shape.ts';
import { objects } from './asked.ts';
import type { PromptBlock } from './prompt-blocks.ts';

/** Input tokens of a request by price: read afresh, read from the cache, written to it. */
export interface InputBill {
  readonly uncached: number;
  readonly read: number;
  readonly written5m: number;
  readonly written1h: number;
}

/** A prompt cache: bills a prompt and remembers what the bill wrote. */
export interface PromptCache {
  bill(body: Obj, blocks: readonly PromptBlock[]): InputBill;
}

/** How many blocks, the marked one included, the server tries for each mark. */
const LOOKBACK = 20;
const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

/**
 * Prompt caching of the Messages API (https://platform.claude.com/docs/en/build-with-claude/prompt-caching): an entry is
 * written where a mark stands and nowhere else, when the prefix has the minimum of tokens; a read is found at a mark or at
 * most 20 blocks back from it, and renews the entry. Tools, then system, then tool choice, thinking and the presence of
 * images come before the messages in the key.
 */
export function anthropicCache(now: () => number, minimumTokens: number): PromptCache {
  const entries = new Map<string, { until: number; life: number }>();
  const alive = (key: string): boolean => (entries.get(key)?.until ?? 0) > now();
  return {
    bill(body, blocks) {
      const keys = prefixKeys(body, blocks);
      const upTo = sums(blocks);
      const marks = blocks.flatMap((block, at) =>
        block.mark !== undefined && (upTo[at] ?? 0) >= minimumTokens ? [at] : [],
      );
      const hit = Math.max(-1, ...marks.map((at) => found(keys, at, alive)));
      const entry = hit === -1 ? undefined : entries.get(keys[hit] ?? '');
      if (entry !== undefined) entry.until = now() + entry.life;
      const written = { '5m': 0, '1h': 0 };
      let from = hit;
      for (const at of marks) {
        if (at <= hit) continue;
        const life = blocks[at]?.mark ?? '5m';
        written[life] += (upTo[at] ?? 0) - (upTo[from] ?? 0);
        entries.set(keys[at] ?? '', { until: now() + LIFETIME_MS[life], life: LIFETIME_MS[life] });
        from = at;
      }
      return {
        uncached: (upTo.at(-1) ?? 0) - (upTo[from] ?? 0),
        read: upTo[hit] ?? 0,
        written5m: written['5m'],
        written1h: written['1h'],
      };
    },
  };
}

function found(keys: readonly string[], mark: number, alive: (key: string) => boolean): number {
  for (let at = mark; at >= 0 && at > mark - LOOKBACK; at -= 1) if (alive(keys[at] ?? '')) return at;
  return -1;
}

/** Key of the prefix that ends with each block. */
function prefixKeys(body: Obj, blocks: readonly PromptBlock[]): string[] {
  let key = hash('', String(body.model));
  let inMessages = false;
  return blocks.map((block) => {
    if (block.level === 'messages' && !inMessages) {
      inMessages = true;
      key = hash(key, JSON.stringify([body.tool_choice ?? null, body.thinking ?? null, hasImages(body)]));
    }
    key = hash(key, `${block.level} ${block.text}`);
    return key;
  });
}

function hasImages(body: Obj): boolean {
  return objects(body.messages).some(({ content }) =>
    objects(content).some(
      (block) =>
        block.type === 'image' || objects(block.content).some((inner) => isObject(inner) && inner.type === 'image'),
    ),
  );
}

function hash(key: string, text: string): string {
  return createHash('sha1').update(key).update('\0').update(text).digest('base64');
}

/** Tokens up to and including each block. */
function sums(blocks: readonly PromptBlock[]): number[] {
  let sum = 0;
  return blocks.map(({ tokens }) => {
    sum += tokens.length;
    return sum;
  });
}
