import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approvalLines } from '../../src/cli/render/approval-lines.ts';
import type { ApprovalRequest } from '../../src/client/approvals.ts';
import { defineJsonTool } from '../../src/tools/define-tool.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

/** What a model, or a page that it read, would put into an argument so that a person approves something else. */
const TRICKS: readonly (readonly [why: string, text: string])[] = [
  ['clears the screen', '\u001b[2Jrm -rf /'],
  ['moves the cursor up and overwrites', 'x\u001b[1A\u001b[2Kread_file README.md'],
  ['sets the title of the terminal', '\u001b]0;safe\u0007'],
  ['one byte control sequence', '\u009b2J'],
  ['returns to the start of the line', 'rm -rf /\rls      '],
  ['erases by backspace', 'rm -rf /\b\b\b\b\b\b\b\bls'],
  ['forges a line', 'ls\n  until 2030-01-01 00:00:00 UTC (years left)'],
  ['a line of another kind', 'ls\u2028approved\u2029\u0085'],
  ['turns the reading direction', 'file\u202egpj.exe'],
  ['isolates a direction', '\u2066evil\u2069'],
  ['invisible inside a word', 'r\u200bm\u2060 \ufeff-rf\u00ad'],
  ['tag characters', `ls\u{e0072}\u{e006d}`],
  ['a filler that is a letter', 'ls\u3164\u115f\uffa0'],
  ['blank braille', 'ls\u2800rm'],
  ['Cyrillic for Latin', '\u0430pprove p\u0430ypal.com'],
  ['Greek for Latin', 'g\u03bfogle.com'],
  ['full width', '\uff52\uff4d -rf'],
  ['mathematical letters', '\u{1d5cb}\u{1d5c6} -rf'],
  ['a lone half of a pair', 'ls\ud83d'],
  ['a variation selector', 'ls\ufe0f\u{e0100}'],
];

/** Nothing but characters with a glyph of their own, and plain spaces. */
const PLAIN = /^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800]*$/u;

const tool = defineJsonTool({
  name: 'srv__run',
  description: 'Runs.',
  inputSchema: { type: 'object', properties: { command: { type: 'string' } } },
  execute: () => undefined,
});

function request(args: Readonly<Record<string, string>>, name = tool.name): ApprovalRequest {
  return {
    sessionId: 's',
    runId: 'r',
    callId: 'c',
    name,
    label: tool.label(args),
    arguments: args,
    deadline: '2026-01-02T00:00:00.000Z',
  } as unknown as ApprovalRequest;
}

const shown = (args: Readonly<Record<string, string>>, name?: string): string =>
  approvalLines([request(args, name)], { now: NOW, all: true });

describe.each(TRICKS)('a text that %s', (_, trick) => {
  test('is written out in the label', () => {
    const label = tool.label({ command: trick });
    expect(label).toMatch(PLAIN);
    expect(label).toMatch(/\\u\{|\\[nrt]/);
    expect(label).not.toContain(trick);
  });

  test('adds no line and no hidden character to what a person is asked', () => {
    const plain = shown({ command: 'ls' }).split('\n');
    for (const lines of [shown({ command: trick }), shown({ [trick]: 'ls' }), shown({ command: 'ls' }, trick)]) {
      expect(lines.split('\n')).toHaveLength(plain.length);
      for (const line of lines.split('\n')) expect(line).toMatch(PLAIN);
    }
  });
});

test('whatever the arguments are, the question has the same lines, without a hidden character', () => {
  const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...TRICKS.map(([, each]) => each))));
  fc.assert(
    fc.property(text, (parts) => {
      const lines = shown({ command: parts.join('') }).split('\n');
      expect(lines).toHaveLength(shown({ command: 'ls' }).split('\n').length);
      for (const line of lines) expect(line).toMatch(PLAIN);
    }),
  );
});

test.each(['写入文件 报告.md', 'прочитай файл', 'διάβασε το αρχείο', 'café naïve – “ok” 🙂', 'ファイル（一）'])(
  'honest text stays as it is: %s',
  (honest) => expect(tool.label({ command: honest })).toBe(`srv__run ${honest}`),
);
