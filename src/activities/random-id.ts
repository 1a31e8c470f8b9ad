import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A fresh id: `prefix` and 20 letters or digits, about 119 bits. Minted in activities only, never in workflow code. */
export function randomId(prefix: string): string {
  let id = prefix;
  for (const byte of randomBytes(20)) id += ALPHABET[byte % ALPHABET.length];
  return id;
}
