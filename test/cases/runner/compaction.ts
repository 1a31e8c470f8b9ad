import { textTokens } from '../../../src/transcript/text-tokens.ts';
import { type Case, str } from './case-file.ts';
import type { Observation } from './observation.ts';

/** Why a compaction case cannot run yet, or nothing. Pure parts run; the rest needs the compaction activities. */
export function compactionGap({ input }: Case): string | undefined {
  return typeof input.text === 'string' ? undefined : 'compaction is not wired';
}

/** Runs what a compaction case asks of pure code: the token estimate of a text. */
export async function runCompaction({ input }: Case): Promise<Observation> {
  const text = str(input.text).repeat(typeof input.repeat === 'number' ? input.repeat : 1);
  return { tokens: textTokens(text, 'fitted') };
}
