import { SECRET_MASK as MASK, secretMask } from '../transcript/mask-secrets.ts';

/** Keys by their looks, for what nobody told us about: vendors' prefixes, authorization headers, AWS key ids, private keys, JWTs. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|gsk|csk|xai|ghp|gho|ghs|ghu|glpat|nvapi|pplx|xoxb|xoxp|hf)[-_][A-Za-z0-9_-]{8,}/g, MASK],
  [/\b(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g, MASK],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, MASK],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@"]+):[^\s@/"]+@/gi, `$1:${MASK}@`],
];

/**
 * A function that takes secrets out of text: the values given, however they are escaped or encoded, and whatever looks
 * like a key.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const mask = secretMask(secrets);
  return (text) => SHAPES.reduce((safe, [shape, stand]) => safe.replace(shape, stand), mask(text));
}
