/** First bytes of the formats that models take or people meet, as latin-1; `?` stands for any byte. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['\x89PNG', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF8', 'image/gif'],
  ['RIFF????WEBP', 'image/webp'],
  ['RIFF????WAVE', 'audio/wav'],
  ['ID3', 'audio/mpeg'],
  ['OggS', 'audio/ogg'],
  ['fLaC', 'audio/flac'],
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b', 'application/gzip'],
  ['\x7fELF', 'application/x-elf'],
  ['SQLite format 3', 'application/vnd.sqlite3'],
];

/** Media type by the first bytes; `application/octet-stream` when they say nothing. */
export function mediaTypeOf(bytes: Uint8Array): string {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  const found = MAGIC.find(([magic]) => [...magic].every((char, i) => char === '?' || head[i] === char));
  return found?.[1] ?? 'application/octet-stream';
}

/** Whether content of this media type is text that a model can read as it is. */
export function isPlainText(mediaType: string): boolean {
  return /^(text\/|application\/(json|xml|javascript|yaml|x-ndjson|[^;]*\+(json|xml)))/i.test(mediaType);
}
