import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { looksLikeToolPromise } from '../../src/transcript/looks-like-tool-promise.ts';

interface Labelled {
  readonly promise: boolean;
  readonly language: 'en' | 'zh';
  readonly text: string;
}

const SENTENCES: readonly Labelled[] = readFileSync(
  new URL('../fixtures/tool-promises/held-out.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Labelled);

test.each(['en', 'zh'] as const)(
  'precision is at least 0.95 and recall at least 0.8 on labelled sentences (%s)',
  (language) => {
    const own = SENTENCES.filter((sentence) => sentence.language === language);
    const said = own.filter(({ text }) => looksLikeToolPromise(text));
    const right = said.filter(({ promise }) => promise).length;
    const precision = right / said.length;
    const recall = right / own.filter(({ promise }) => promise).length;
    console.log(`${language}: ${own.length} sentences, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`);
    expect(precision).toBeGreaterThanOrEqual(0.95);
    expect(recall).toBeGreaterThanOrEqual(0.8);
  },
);

test('only the end of a text can be a promise', () => {
  const answer = 'The port is 8080. '.repeat(5);
  expect(looksLikeToolPromise(`Let me look at the file. ${answer}`)).toBe(false);
  expect(looksLikeToolPromise(`${answer} Let me look at the file.`)).toBe(true);
});

test('code and quotations promise nothing', () => {
  expect(looksLikeToolPromise("```\n// I'll check the logs\n```")).toBe(false);
  expect(looksLikeToolPromise('')).toBe(false);
});
