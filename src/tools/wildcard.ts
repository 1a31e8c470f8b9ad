/**
 * Whether the whole text fits the pattern: `*` stands for any characters, slashes and line ends too, `?` for one; every
 * other character for itself. Takes at most pattern × text steps, whatever the two are.
 */
export function fitsWildcard(pattern: string, text: string): boolean {
  const wanted = [...pattern];
  const given = [...text];
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let i = 0; i < given.length; ) {
    if (wanted[at] === '*') {
      star = at;
      resume = i;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[i])) {
      at += 1;
      i += 1;
    } else if (star >= 0) {
      // The last star takes one character more; earlier ones need not be tried again.
      at = star + 1;
      resume += 1;
      i = resume;
    } else {
      return false;
    }
  }
  return wanted.slice(at).every((char) => char === '*');
}
