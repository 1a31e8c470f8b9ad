import { countFeatures, FEATURE_COUNT } from './token-features.ts';
import { TOKEN_WEIGHTS } from './token-weights.ts';

/** `fitted`: near to what tokenizers count. `conservative`: `ceil(characters · 4 / 3)`, never too low for any script in use. */
export type TokenEstimator = 'fitted' | 'conservative';

const ESTIMATE: Readonly<Record<TokenEstimator, (text: string) => number>> = {
  fitted: (text) => Math.ceil(fittedTokens(text)),
  conservative: (text) => Math.ceil((text.length * 4) / 3),
};

/** Tokens of `text`; 0 only for the empty string. */
export function textTokens(text: string, estimator: TokenEstimator = 'fitted'): number {
  return text === '' ? 0 : Math.max(1, ESTIMATE[estimator](text));
}

/** Reused from call to call: nothing here waits, so no two calls share it. */
const counts = new Float64Array(FEATURE_COUNT);

function fittedTokens(text: string): number {
  counts.fill(0);
  countFeatures(text, counts);
  let tokens = 0;
  for (let at = 0; at < FEATURE_COUNT; at += 1) tokens += (counts[at] as number) * (TOKEN_WEIGHTS[at] as number);
  return tokens;
}
