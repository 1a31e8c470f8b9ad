import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cells, charactersOf } from '../../../src/cli/chat/cells.ts';
import { type Keyed, LineEditor } from '../../../src/cli/chat/line-editor.ts';

/** Presses keys: words in <> are keys by name (`<c-a>` with Ctrl, `<m-return>` with Alt), everything else is typed. */
function press(editor: LineEditor, keys: string): Keyed | undefined {
  let last: Keyed | undefined;
  for (const [, name, character] of keys.matchAll(/<([^>]+)>|([\s\S])/gu)) {
    if (name === undefined) last = editor.key(character, { name: character });
    else if (name.startsWith('c-')) last = editor.key('\u0001', { name: name.slice(2), ctrl: true });
    else if (name.startsWith('m-')) last = editor.key('\u001b\r', { name: name.slice(2), meta: true });
    else last = editor.key(name === 'return' ? '\r' : undefined, { name });
  }
  return last;
}
const typed = (keys: string): string => {
  const editor = new LineEditor();
  press(editor, keys);
  return editor.text;
};

describe('typing', () => {
  test.each([
    ['abc<left><left>X', 'aXbc'],
    ['abc<home>X<end>Y', 'XabcY'],
    ['abc<c-a><delete><c-e><backspace>', 'b'],
    ['one two  <c-w>x', 'one x'],
    ['one two<left><left><left><c-k>', 'one '],
    ['one two<left><left><left><c-u>', 'two'],
    ['a<left><left><left>b<right><right>c', 'bac'],
    ['👩‍👩‍👧é<left><backspace>', 'é'],
    ['a<f5><escape><tab>b', 'ab'],
    ['a<m-return>b', 'a\nb'],
    ['<paste-start>one<return>two<paste-end>', 'one\ntwo'],
  ])('%s gives %j', (keys, text) => {
    expect(typed(keys)).toBe(text);
  });

  test('Enter hands the line over and begins another; earlier ones come back, and the draft too', () => {
    const editor = new LineEditor();
    expect(press(editor, 'one<return>')).toEqual({ kind: 'entered', text: 'one' });
    expect(press(editor, 'two<return>')).toEqual({ kind: 'entered', text: 'two' });
    press(editor, 'draft<up><up><up>');
    expect(editor.text).toBe('one');
    press(editor, '<down><down>');
    expect(editor.text).toBe('draft');
  });

  test('Ctrl-C interrupts; Ctrl-D leaves from an empty line, else deletes', () => {
    const editor = new LineEditor();
    expect(press(editor, 'ab<c-c>')).toEqual({ kind: 'interrupt' });
    expect(press(editor, '<home><c-d>')).toEqual({ kind: 'edited' });
    expect(editor.text).toBe('b');
    expect(press(editor, '<backspace><c-d><c-d>')).toEqual({ kind: 'leave' });
  });
});

test('what is shown fits, stands around the cursor and has no line end or control character', () => {
  const key = fc.constantFrom('a', '漢', '👍', '<left>', '<right>', '<home>', '<m-return>', ' ');
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), fc.integer({ min: 4, max: 30 }), (keys, columns) => {
      const editor = new LineEditor();
      press(editor, keys.join(''));
      const { before, after } = editor.shown(columns);
      const width = charactersOf(before + after).reduce((sum, character) => sum + cells(character), 0);
      expect(width).toBeLessThanOrEqual(columns);
      expect(before + after).toMatch(/^\P{Cc}*$/u);
      const plain = editor.text.replaceAll('\n', '⏎');
      expect(plain).toContain(before.replace(/^…/, '') + after);
    }),
  );
});
