import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { preview } from '../../src/transcript/preview.ts';
import { textTokens } from '../../src/transcript/text-tokens.ts';
import { lineCount, outputCaps, truncateOutput } from '../../src/transcript/truncate.ts';

const numRuns = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const LONE = /\p{Surrogate}/u;

/** Text of any script and shape, with lone surrogate halves, long lines and line ends of all kinds. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.constantFrom('\n', '\r\n', '\n\n', '\ud83d', '\ude00', '😀', '永遠', 'word '),
      fc.tuple(fc.constantFrom('x', 'ab ', '漢字', '😀', '0f', 'Привет '), fc.nat(400)).map(([s, n]) => s.repeat(n)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

const row = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.double(),
  fc.record({ id: fc.nat(), tags: fc.array(fc.string({ maxLength: 8 }), { maxLength: 4 }), ok: fc.boolean() }),
);

describe('truncateOutput', () => {
  test('never estimates above its cap, and is well-formed Unicode, for any text and any cap', () => {
    fc.assert(
      fc.property(anyText, fc.nat(300), (text, maxTokens) => {
        const { text: out } = truncateOutput(text, { maxTokens, callId: 'call_1' });
        expect(textTokens(out)).toBeLessThanOrEqual(maxTokens);
        expect(out).not.toMatch(LONE);
      }),
      { numRuns },
    );
  });

  test('returns what fits unchanged, and says so', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const result = truncateOutput(text, { maxTokens: textTokens(text) });
        expect(result).toMatchObject({ text, cut: false, bytes: Buffer.byteLength(text) });
      }),
      { numRuns },
    );
  });

  test('keeps whole lines from the start and from the end, and names the gap in characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 40, max: 160 }), fc.integer({ min: 250, max: 500 }), (count, maxTokens) => {
        const lines = Array.from({ length: count }, (_, i) => `${i}: the quick brown fox ${'é'.repeat(i % 30)}`);
        const text = lines.join('\n');
        const result = truncateOutput(text, { maxTokens });
        if (!result.cut) return;
        const shown = result.text.split('\n');
        const gap = shown.findIndex((line) => line.startsWith('[…'));
        expect(shown.slice(0, gap)).toEqual(lines.slice(0, gap));
        expect(shown.slice(gap + 1)).toEqual(lines.slice(lines.length - (shown.length - gap - 1)));
        const [, from, to] = /characters (\d+) to (\d+)/.exec(shown[gap] ?? '') ?? [];
        const rest = text.slice(0, Number(from)) + text.slice(Number(to));
        expect(rest).toBe(shown.filter((_, i) => i !== gap).join('\n'));
        expect(shown[gap]).toContain(`${Buffer.byteLength(text)} bytes, ${count} lines`);
        expect(shown[gap]).toContain('read_tool_output');
      }),
      { numRuns },
    );
  });

  test('uses most of its cap when there is enough to show', () => {
    const text = Array.from({ length: 9000 }, (_, i) => `row ${i} of the table is fine`).join('\n');
    for (const maxTokens of [500, 2000, 10_000]) {
      expect(textTokens(truncateOutput(text, { maxTokens }).text)).toBeGreaterThan(maxTokens * 0.85);
    }
  });

  test('JSON stays JSON and keeps status and error, for any rows around them', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 10, maxLength: 20 }), fc.string(), (rows, error) => {
        const message = error.slice(0, 20);
        const text = JSON.stringify({ rows, log: 'line\n'.repeat(200), status: 'failed', error: { message } });
        const { text: out, cut } = truncateOutput(text, { maxTokens: 110 });
        expect(cut).toBe(true);
        const parsed = JSON.parse(out);
        expect(parsed).toMatchObject({ status: 'failed' });
        expect(JSON.stringify(parsed.error)).toContain(JSON.stringify(message).slice(1, -1));
        expect(out).toContain('read_tool_output');
      }),
      { numRuns },
    );
  });

  test('status and error are kept however many members stand before them', () => {
    const members = Array.from({ length: 400 }, (_, i) => [`field_${i}`, `value ${i}`] as const);
    const text = JSON.stringify({ ...Object.fromEntries(members), status: 'failed', error: { code: 17 } });
    const { text: out } = truncateOutput(text, { maxTokens: 90 });
    expect(JSON.parse(out)).toMatchObject({ status: 'failed', error: { code: 17 } });
  });

  test('numbers that JavaScript cannot hold are never rewritten', () => {
    const text = JSON.stringify({ pad: 'x '.repeat(4000) }).replace('{', '{"id":12345678901234567890,');
    expect(truncateOutput(text, { maxTokens: 200 }).text).toContain('12345678901234567890');
  });

  test('fractions of seventeen digits do not keep JSON from staying JSON', () => {
    const text = JSON.stringify({ status: 'ok', rows: Array.from({ length: 500 }, (_, i) => i / 3 + 0.1) });
    expect(JSON.parse(truncateOutput(text, { maxTokens: 200 }).text)).toMatchObject({ status: 'ok' });
  });

  test('a member called __proto__ stays a member', () => {
    const text = `{"__proto__":{"a":1},"pad":${JSON.stringify('y '.repeat(4000))}}`;
    expect(Object.keys(JSON.parse(truncateOutput(text, { maxTokens: 100 }).text))).toContain('__proto__');
  });
});

test('lines are counted as an editor counts them', () => {
  expect(['', 'a', 'a\n', 'a\nb', '\n\n'].map(lineCount)).toEqual([0, 1, 1, 2, 2]);
});

test('an output may take an eighth of the budget and at most 10,000 tokens, a batch a third', () => {
  expect(outputCaps(16_000)).toEqual({ perOutput: 2000, perBatch: 5333 });
  expect(outputCaps(16_000, 8).perOutput).toBe(666);
  expect(outputCaps(900_000)).toEqual({ perOutput: 10_000, perBatch: 300_000 });
});

describe('preview', () => {
  test('is one line of at most 200 characters without control characters, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = preview(text);
        expect(line.length).toBeLessThanOrEqual(200);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
        expect(line).not.toMatch(LONE);
      }),
      { numRuns },
    );
  });

  test('drops terminal escapes whole', () => {
    expect(
      preview('\u001b[1;31mred\u001b[0m\r\n\u001b]0;title\u0007 next \u001b[2K\u001b]8;;http://x\u001b\\link'),
    ).toBe('red next link');
  });
});
