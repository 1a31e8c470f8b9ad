import fc from 'fast-check';
import { expect, test } from 'vitest';
import { secretMask } from '../../src/transcript/mask-secrets.ts';

/** What programs do to a text on its way into a log, with what they put around it. */
const WRAPPERS: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify({ key: text }),
  (text) => JSON.stringify([text]).replaceAll('/', '\\/'),
  (text) => JSON.stringify(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  (text) => `curl -H 'Authorization: Bearer ${text}'`,
];
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => encodeURIComponent(text),
  (text) => new URLSearchParams({ text }).toString(),
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  (text) => Buffer.from(`user:${text}`).toString('base64'),
  (text) => Buffer.from(`ab${text}cd`).toString('base64url'),
  (text) => Buffer.from(`{"a":"${text}"}`).toString('base64'),
];

const keyCharacter = fc.constantFrom(...'abcdefXYZ0123456789+/=_-."\\<>&!~*()\'$^[]{}|?,;:@#%');
/** Keys have entropy; one of a few repeated characters would be found by chance. */
const key = fc
  .tuple(fc.string({ unit: keyCharacter, minLength: 8, maxLength: 40 }), fc.uuid())
  .map(([odd, uuid]) => `${odd.slice(0, odd.length / 2)}${uuid}${odd.slice(odd.length / 2)}`);

test('no encoding inside any layers of JSON shows a third of the key', () => {
  fc.assert(
    fc.property(
      key,
      fc.constantFrom(...ENCODINGS),
      fc.array(fc.constantFrom(...WRAPPERS), { maxLength: 4 }),
      (secret, encode, wrappers) => {
        const written = wrappers.reduce((text, wrap) => wrap(text), encode(secret));
        const safe = secretMask([secret])(written);
        expect(safe).toContain('[redacted]');
        const encoded = encode(secret);
        for (const part of [encoded.slice(0, -12), encoded.slice(12)]) {
          const third = Math.ceil(part.length / 3);
          for (let at = 0; at + third <= part.length; at += 1) expect(safe).not.toContain(part.slice(at, at + third));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('what holds no secret stays as it is, byte for byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(secretMask(['a-key-that-nobody-writes'])(text)).toBe(text);
    }),
  );
});

test('masked JSON is still JSON', () => {
  fc.assert(
    fc.property(key, fc.string(), (secret, other) => {
      const safe = JSON.parse(secretMask([secret])(JSON.stringify({ other, secret, list: [secret, other] })));
      expect(safe).toEqual({ other, secret: '[redacted]', list: ['[redacted]', other] });
    }),
  );
});

test('placeholders are no secrets', () => {
  expect(secretMask(['none', 'unused', ''])('none of the unused words')).toBe('none of the unused words');
});

test('a secret within another goes with it', () => {
  const mask = secretMask(['0123456789', '0123456789abcdef']);
  expect(mask('x 0123456789abcdef y 0123456789 z')).toBe('x [redacted] y [redacted] z');
});
