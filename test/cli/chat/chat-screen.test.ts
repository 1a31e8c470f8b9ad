import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChatScreen } from '../../../src/cli/chat/chat-screen.ts';
import { Terminal } from '../terminal.ts';

function screen(columns = 20): {
  terminal: Terminal;
  screen: ChatScreen;
  type: (text: string, after?: string) => void;
} {
  const terminal = new Terminal(columns);
  let line = { before: '', after: '' };
  const made = new ChatScreen({
    write: (text) => terminal.write(text),
    columns: () => columns,
    colour: false,
    typed: () => line,
  });
  const type = (before: string, after = ''): void => {
    line = { before, after };
    made.refresh();
  };
  return { terminal, screen: made, type };
}

describe('a screen to chat on', () => {
  test('text flows above the line that is being typed, which stays', () => {
    const { terminal, screen: chat, type } = screen();
    type('my next');
    chat.flow('One');
    expect(terminal.text()).toBe('One\n> my next');
    chat.flow(' and two.\nThree');
    expect(terminal.text()).toBe('One and two.\nThree\n> my next');
    type('my next th', 'ing');
    chat.flow(' more\n');
    expect(terminal.text()).toBe('One and two.\nThree more\n> my next thing');
    terminal.write('|');
    expect(terminal.text()).toBe('One and two.\nThree more\n> my next th|ng');
  });

  test('what goes on is told between both, and taken away', () => {
    const { terminal, screen: chat } = screen();
    chat.status('a status that is much too long');
    chat.flow('text');
    expect(terminal.text()).toBe('text\na status that is mu\n>');
    chat.line('done');
    chat.status('');
    expect(terminal.text()).toBe('text\ndone\n>');
  });

  test('long lines are broken at spaces, or where they must be', () => {
    const { terminal, screen: chat } = screen(12);
    for (const piece of ['one two th', 'ree four ', 'abcdefghijklmnop', '漢字漢字漢字\n']) chat.flow(piece);
    expect(terminal.text()).toBe('one two\nthree four\nabcdefghijk\nlmnop漢字漢\n字漢字\n>');
  });

  test('only text that still stands in the unfinished line can be taken back', () => {
    const { terminal, screen: chat } = screen();
    chat.flow('wrong');
    expect(chat.takeBack('wrong')).toBe(true);
    chat.flow('long gone\nwrong');
    expect(chat.takeBack('long gone\nwrong')).toBe(false);
    expect(terminal.text()).toBe('long gone\nwrong\n>');
  });

  test('control characters are written out', () => {
    const { terminal, screen: chat } = screen(40);
    chat.flow('a\u001b[2Jb\u0007');
    expect(terminal.text()).toBe('a\\u{1b}[2Jb\\u{07}\n>');
  });

  test('after its end the flow stands alone', () => {
    const { terminal, screen: chat, type } = screen();
    type('half a line');
    chat.status('working');
    chat.flow('text');
    chat.close();
    chat.status('late');
    expect(terminal.text()).toBe('text');
  });
});

test('whatever comes in whatever pieces, all of the text stands above the prompt, in order', () => {
  const piece = fc.stringMatching(/^[a-z \n]{0,12}$/);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 8, max: 30 }), (pieces, columns) => {
      const { terminal, screen: chat, type } = screen(columns);
      for (const [n, text] of pieces.entries()) {
        chat.flow(text);
        if (n % 3 === 0) chat.status(`step ${n}`);
        if (n % 2 === 0) type(`t${n}`);
      }
      chat.status('');
      type('');
      const rows = terminal.text().split('\n');
      expect(rows.pop()).toBe('>');
      expect(rows.join('').replace(/\s/g, '')).toBe(pieces.join('').replace(/\s/g, ''));
    }),
  );
});
