import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  entriesOf,
  readTranscript,
  TRANSCRIPT_FILE_VERSION,
  writeTranscript,
} from '../../src/transcript/interchange/holdfast-jsonl.ts';
import { importFile } from '../../src/transcript/interchange/import-file.ts';
import { legalTranscript } from '../transcript/arbitraries.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

test('a transcript survives the way there and back, byte for byte', () => {
  fc.assert(
    fc.property(legalTranscript, (items) => {
      const entries = entriesOf(items, 'run-1');
      const text = writeTranscript(entries, { sessionId: 's', system: 'Be brief.' });
      const read = readTranscript(text);
      expect(read.problems).toEqual([]);
      expect(read.entries).toEqual(JSON.parse(JSON.stringify(entries)));
      expect(writeTranscript(read.entries, { sessionId: 's', system: 'Be brief.' })).toBe(text);
      expect(importFile(text).repairs).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test('a file that is cut off anywhere gives the entries that are whole, and tells of the rest', () => {
  fc.assert(
    fc.property(legalTranscript, fc.nat(), (items, cut) => {
      const text = writeTranscript(entriesOf(items, 'run-1'));
      const part = text.slice(0, cut % (text.length + 1));
      const { entries, problems } = readTranscript(part);
      const whole = text.slice(0, part.length).split('\n').slice(0, -1).length;
      expect(entries.length).toBeGreaterThanOrEqual(Math.max(0, whole - 1));
      expect(problems.length).toBeLessThanOrEqual(1);
    }),
    { numRuns: RUNS },
  );
});

test('the header is pinned', () => {
  expect(TRANSCRIPT_FILE_VERSION).toBe(1);
  expect(writeTranscript([], { sessionId: 's' })).toBe('{"holdfast":"transcript","version":1,"sessionId":"s"}\n');
});

test.each([
  { line: '{"holdfast":"transcript","version":2}', message: 'files of version 2 cannot be read' },
  { line: '{"seq":1}', message: 'the first line is no transcript header' },
])('a file that begins with $line is refused: $message', ({ line, message }) => {
  expect(readTranscript(`${line}\n`).problems).toEqual([{ line: 1, message }]);
});

const HEADER = '{"holdfast":"transcript","version":1}';
const USER = { kind: 'user_message', schemaVersion: 1, origin: 'user', content: [{ type: 'text', text: 'x' }] };

test.each([
  { entry: { seq: 1, runId: 'r', step: 0 }, message: 'the item is no object' },
  { entry: { runId: 'r', step: 0, item: USER }, message: 'is no entry: it needs seq, runId, step and item' },
  { entry: { seq: 1, runId: 'r', step: 0, item: { ...USER, kind: 'memo' } }, message: '"memo" is no kind of item' },
  {
    entry: { seq: 1, runId: 'r', step: 0, item: { ...USER, schemaVersion: 9 } },
    message: 'items of schema version 9 cannot be read',
  },
  {
    entry: { seq: 1, runId: 'r', step: 0, item: { ...USER, origin: 'robot' } },
    message: 'user_message: origin is missing or wrong',
  },
  {
    entry: { seq: 1, runId: 'r', step: 0, item: { ...USER, content: [{ type: 'text' }] } },
    message: 'user_message: content is missing or wrong',
  },
])('an entry that is none is told and left out: $message', ({ entry, message }) => {
  const good = JSON.stringify({ seq: 2, runId: 'r', step: 0, item: USER });
  const { entries, problems } = readTranscript(`${HEADER}\n${JSON.stringify(entry)}\n${good}\n`);
  expect(problems).toEqual([{ line: 2, message }]);
  expect(entries.map(({ seq }) => seq)).toEqual([2]);
});
