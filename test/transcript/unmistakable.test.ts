import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unmistakable } from '../../src/transcript/unmistakable.ts';

describe('what could make people see something else is written out', () => {
  test.each([
    ['escape sequences', 'rm \u001b[2K\rls', 'rm \\u{1b}[2K\\rls'],
    ['C1 controls', 'a\u009b31mb', 'a\\u{9b}31mb'],
    ['line ends and NUL', 'a\nb\tc\0d\u2028e', 'a\\nb\\tc\\u{0}d\\u{2028}e'],
    ['reading direction', 'gpj.\u202eexe', 'gpj.\\u{202e}exe'],
    ['isolates and marks', '\u2066a\u2069\u200e\u061c', '\\u{2066}a\\u{2069}\\u{200e}\\u{61c}'],
    ['nothing to see', 'a\u200bb\ufeffc\u3164d\u2800e\u00adf', 'a\\u{200b}b\\u{feff}c\\u{3164}d\\u{2800}e\\u{ad}f'],
    ['tags and selectors', 'a\u{e0041}b\ufe01', 'a\\u{e0041}b\\u{fe01}'],
    ['spaces that are none', 'rm\u00a0-rf\u2003/', 'rm\\u{a0}-rf\\u{2003}/'],
    ['Cyrillic letters in a Latin word', '/etc/p\u0430sswd', '/etc/p\\u{430}sswd'],
    ['Greek letters in a Latin word', 'g\u03bfogle.com', 'g\\u{3bf}ogle.com'],
    ['a Latin word made of Cyrillic letters', 'cat \u0441\u043e\u0440\u0443', 'cat \\u{441}\\u{43e}\\u{440}\\u{443}'],
    ['a mixed word in a Russian text', 'запиши p\u0430sswd', 'запиши p\\u{430}sswd'],
    ['a mathematical alphabet', '\u{1d5cb}\u{1d5c6} x', '\\u{1d5cb}\\u{1d5c6} x'],
    ['full-width letters in a Latin text', '\uff52\uff4d -rf', '\\u{ff52}\\u{ff4d} -rf'],
    ['half a surrogate pair', 'a\ud83d', 'a\\u{d83d}'],
  ])('%s', (_, text, expected) => {
    expect(unmistakable(text)).toBe(expected);
  });
});

describe('honest text stays as it is', () => {
  test.each([
    'git commit -m "naïve café — fixed" ./src/index.ts',
    'написать письмо о соре в файл',
    'запиши README.md в папку docs',
    'γράψε το αρχείο',
    '把“设置”改为：开启（Ａ、Ｂ）',
    '設定を「オン」にする',
    '설정 파일을 쓴다',
    'كتابة الملف',
    'party 🎉 tonight',
  ])('%s', (text) => {
    expect(unmistakable(text)).toBe(text);
  });

  test('line feeds stay where they are wanted, and nothing else does', () => {
    expect(unmistakable('a\r\nb\nc\rd', { lines: true })).toBe('a\nb\nc\\rd');
  });
});

test('whatever comes, the outcome is plain, and looking twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = unmistakable(text);
      expect(once).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(unmistakable(once)).toBe(once);
    }),
  );
});
