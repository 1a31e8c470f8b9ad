import { SECRET_MASK as MASK, secretMask } from '../transcript/mask-secrets.ts';

/** Shapes of keys, whatever the vendor: known prefixes, authorization headers, `key=…` pairs. Masked keys (`sk-ab***yz`) too. */
const KEY_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|csk|xai|hf|ghp|gho|ghs|glpat|nvapi|pplx|tgp|r8|AKIA|AIza)[-_]?[A-Za-z0-9_*-]{8,}/g,
  /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/*=-]{8,}/gi,
  /\b((?:x-)?api[-_ ]?key|authorization|access[-_ ]?token|secret|password)(["']?\s*[:=]\s*["']?)[^\s"',;&}]{6,}/gi,
];

/** `text` without anything that looks like a key, and without the `secrets` themselves, however they are escaped or encoded. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let safe = secretMask(secrets)(text);
  const [prefixed, header, pair] = KEY_SHAPES;
  if (prefixed) safe = safe.replace(prefixed, MASK);
  if (header) safe = safe.replace(header, MASK);
  if (pair) safe = safe.replace(pair, (_, name: string, sign: string) => `${name}${sign}${MASK}`);
  return safe;
}
