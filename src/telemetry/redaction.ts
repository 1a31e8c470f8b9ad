const MASK = '[redacted]';

/** Keys by their looks, for what nobody told us about: vendors' prefixes, authorization headers, AWS key ids, private keys, JWTs. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|gsk|csk|xai|ghp|gho|ghs|ghu|glpat|nvapi|pplx|xoxb|xoxp|hf)[-_][A-Za-z0-9_-]{8,}/g, MASK],
  [/\b(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g, MASK],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, MASK],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@"]+):[^\s@/"]+@/gi, `$1:${MASK}@`],
];
/** What is shorter is a placeholder, and would tear holes into ordinary words. */
const MIN_LENGTH = 8;

/**
 * A function that takes secrets out of text: the values given, also URL-, JSON- and base64-encoded (anywhere inside a
 * longer encoding), and whatever looks like a key.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap(encodings)
    .sort((a, b) => b.length - a.length);
  const known = [...new Set(forms)];
  return (text) => {
    const plain = known.reduce((safe, form) => safe.replaceAll(form, MASK), text);
    return SHAPES.reduce((safe, [shape, mask]) => safe.replace(shape, mask), plain);
  };
}

function encodings(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret), ...base64Cores(secret)];
}

/** Base64 depends on what stands before: the characters that are the same for each of the three offsets. */
function base64Cores(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    return (['base64', 'base64url'] as const)
      .map((encoding) => bytes.toString(encoding).slice(first, last))
      .filter((core) => core.length >= MIN_LENGTH);
  });
}
