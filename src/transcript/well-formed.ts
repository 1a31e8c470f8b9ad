/** ECMAScript 2024, which every Node that we run on has and our `lib` does not know yet. */
interface UnicodeString {
  toWellFormed(): string;
}

/** `text` with every lone surrogate half replaced by U+FFFD, so that it survives UTF-8 and every JSON parser. */
export function wellFormed(text: string): string {
  return (text as unknown as UnicodeString).toWellFormed();
}

/** Length in UTF-8 bytes; a lone half counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (isHigh(code) && isLow(text.charCodeAt(at + 1))) {
      bytes += 2;
      at += 1;
    } else bytes += 2;
  }
  return bytes;
}

/** The first `length` UTF-16 units at most, never ending inside a surrogate pair. */
export function headOf(text: string, length: number): string {
  if (length >= text.length) return text;
  if (length <= 0) return '';
  const splits = isHigh(text.charCodeAt(length - 1)) && isLow(text.charCodeAt(length));
  return text.slice(0, splits ? length - 1 : length);
}

/** The last `length` UTF-16 units at most, never beginning inside a surrogate pair. */
export function tailOf(text: string, length: number): string {
  if (length >= text.length) return text;
  if (length <= 0) return '';
  const from = text.length - length;
  const splits = isHigh(text.charCodeAt(from - 1)) && isLow(text.charCodeAt(from));
  return text.slice(splits ? from + 1 : from);
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
