import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkFile } from '../../src/transcript/interchange/check-file.ts';
import { exportFile } from '../../src/transcript/interchange/export-file.ts';
import { entriesOf } from '../../src/transcript/interchange/holdfast-jsonl.ts';
import { importFile } from '../../src/transcript/interchange/import-file.ts';
import { elementLines } from '../../src/transcript/interchange/locate.ts';
import { validate } from '../../src/transcript/validate.ts';
import { brokenTranscript, legalTranscript } from '../transcript/arbitraries.ts';
import { plan } from '../wire-laws/plan.ts';
import { toAnthropic, toChat } from '../wire-laws/render.ts';

/** Checks of whole files cost some milliseconds each, so most laws here take a share of the usual runs. */
const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
const TOOL_USE = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');
const ITEM = { kind: 'tool_result_batch', schemaVersion: 1, results: [{ callId: 'gone', status: 'ok', content: [] }] };

const BROKEN = [
  {
    format: 'openai-chat-messages',
    text: '[\n{"role":"user","content":"x"},\n{"role":"tool",\n"tool_call_id":"gone","content":"y"}\n]',
    violation: { code: 'result_orphan', position: { index: 1, line: 3 } },
  },
  {
    format: 'openai-chat-request',
    text: `{"model": "m",\n"tools": [{"messages": [1, 2]}],\n"messages": [\n  {"role":"user","content":"x"}, {"role":"assistant","content":null,\n"tool_calls":[${JSON.stringify(CALL)}]}\n]}`,
    violation: { code: 'result_missing', position: { index: 1, line: 4 } },
  },
  {
    format: 'openai-chat-jsonl',
    text: lines({ role: 'user', content: 'x' }, { role: 'tool', tool_call_id: 'gone', content: 'y' }),
    violation: { code: 'result_orphan', position: { index: 1, line: 2 } },
  },
  {
    format: 'anthropic-messages',
    text: JSON.stringify(
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [TOOL_USE] },
        { role: 'user', content: 'stop' },
      ],
      null,
      1,
    ),
    violation: { code: 'result_missing', position: { index: 1, line: 6 } },
  },
  {
    format: 'anthropic-jsonl',
    text: lines({ role: 'user', content: 'x' }, { role: 'assistant', content: [TOOL_USE] }),
    violation: { code: 'result_missing', position: { index: 1, line: 2 } },
  },
  {
    format: 'holdfast-jsonl',
    text: lines({ holdfast: 'transcript', version: 1 }, { seq: 1, runId: 'r', step: 0, item: ITEM }),
    violation: { code: 'result_orphan', position: { index: 0, line: 2 } },
  },
  {
    format: 'holdfast-jsonl',
    text: lines({ holdfast: 'transcript', version: 1 }, 'nonsense'),
    violation: { code: 'unreadable', position: { index: 1, line: 2 } },
  },
  { format: 'unknown', text: 'Dear diary', violation: { code: 'unreadable', position: { index: 0 } } },
] as const;

describe('a broken file', () => {
  test.each(BROKEN)('of the form $format is told where: $violation.position', ({ format, text, violation }) => {
    const report = checkFile(text);
    expect(report.format).toBe(format);
    expect(report.violations[0]).toMatchObject(violation);
    if (violation.code === 'unreadable') return;
    expect(report.repairs[0]).toMatchObject({ position: violation.position });
  });

  test('of the system field of an Anthropic request keeps its system text', () => {
    const text = JSON.stringify({
      model: 'm',
      system: [{ type: 'text', text: 'S' }],
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(importFile(text)).toMatchObject({ format: 'anthropic-request', system: ['S'], repairs: [] });
  });
});

describe('a legal file', () => {
  test('has no violations, in any foreign form', () => {
    fc.assert(
      fc.property(plan, (made) => {
        for (const body of [toChat(made), toChat(made).messages, toAnthropic(made), toAnthropic(made).messages]) {
          expect(checkFile(JSON.stringify(body))).toMatchObject({ violations: [], repairs: [] });
        }
      }),
      { numRuns: Math.ceil(RUNS / 8) },
    );
  });

  test('that we wrote ourselves has no violations and no losses', () => {
    fc.assert(
      fc.property(legalTranscript, (items) => {
        const { text, losses } = exportFile(entriesOf(items, 'r'), 'holdfast-jsonl');
        expect(losses).toEqual([]);
        expect(checkFile(text)).toMatchObject({
          format: 'holdfast-jsonl',
          items: items.length,
          violations: [],
          repairs: [],
        });
      }),
      { numRuns: Math.ceil(RUNS / 8) },
    );
  });
});

test('whatever a session holds, its export in a foreign form imports to a valid transcript', () => {
  fc.assert(
    fc.property(brokenTranscript, fc.constantFrom('openai-chat' as const, 'anthropic' as const), (items, format) => {
      const { text } = exportFile(entriesOf(items, 'r'), format, { media: () => 'AAAA' });
      const imported = importFile(text);
      expect(validate(imported.items, { tail: 'closed' })).toEqual([]);
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

test('any text at all is answered with a report', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.array(fc.json()).map((all) => all.join('\n')),
      ),
      (text) => {
        expect(() => checkFile(text)).not.toThrow();
      },
    ),
    { numRuns: RUNS },
  );
});

test('lines of elements are found whatever stands around them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 6 }),
      fc.jsonValue(),
      fc.constantFrom(0, 1, 2),
      (elements, other, indent) => {
        const wrapped = JSON.stringify({ before: other, list: elements, after: { list: [1] } }, null, indent);
        const found = elementLines(wrapped, 'list');
        expect(found).toHaveLength(elements.length);
        const bare = JSON.stringify(elements, null, indent);
        expect(elementLines(bare)).toHaveLength(elements.length);
        // The oracle: what begins on that line is the element itself.
        const rows = bare.split('\n');
        elementLines(bare).forEach((line, i) => {
          const begins = JSON.stringify(elements[i], null, indent).split('\n')[0] ?? '';
          expect(rows[line - 1]?.includes(begins)).toBe(true);
        });
      },
    ),
    { numRuns: RUNS },
  );
});
