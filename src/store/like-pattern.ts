/**
 * ASCII characters that the folded form of a text holds exactly where the text itself has them in either case, and that
 * JSON writes as they are. The other letters also come from ligatures, `ſ`, the Kelvin sign and such.
 */
const PLAIN = /[bcdegmopqruvxz0-9!#$&'()*+,\-./:<=>?@[\]^{|}~]/;

/**
 * A `like` pattern (escape character `\`) that every JSON text holding `word`, a folded word, matches; others may match
 * too. `undefined` when it would match everything.
 */
export function likePattern(word: string): string | undefined {
  const parts = [...word].map((char) => {
    if (char === '_') return '\\_';
    return PLAIN.test(char) ? char : '%';
  });
  const pattern = parts.join('').replace(/%+/g, '%');
  return pattern === '%' ? undefined : `%${pattern}%`.replace(/%+/g, '%');
}
