/** Follows Markdown code through a text that comes in pieces. */
export interface CodeTracker {
  read(text: string): void;
  /** Whether what comes next stands in a fence or in inline code. */
  inside(): boolean;
  clone(): CodeTracker;
}

interface CodeState {
  /** The mark that opened the present fence; empty outside. */
  fence: string;
  inline: boolean;
  /** The head of the present line: enough to tell a fence. */
  line: string;
  /** Backticks in a row just read. */
  ticks: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LINE_HEAD = 80;

/** Fences (``` or ~~~ at the head of a line) and inline code (between single or double backticks of one line). */
export function createCodeTracker(from: CodeState = { fence: '', inline: false, line: '', ticks: 0 }): CodeTracker {
  const state = { ...from };

  const endLine = (): void => {
    const mark = FENCE.exec(state.line)?.[1];
    if (mark !== undefined) {
      if (state.fence === '') state.fence = mark;
      else if (mark.startsWith(state.fence) && state.line.trim() === mark) state.fence = '';
    }
    state.line = '';
    state.inline = false;
    state.ticks = 0;
  };

  return {
    read(text) {
      for (let i = 0; i < text.length; i += 1) {
        const char = text.charAt(i);
        if (char === '\n') {
          endLine();
          continue;
        }
        if (state.line.length < LINE_HEAD) state.line += char;
        state.ticks = char === '`' ? state.ticks + 1 : 0;
        // The first tick opens or closes; a second one in a row belongs to it (``code``), a third makes a fence.
        if (state.ticks === 1) state.inline = !state.inline;
      }
    },
    inside: () => state.fence !== '' || state.inline || FENCE.test(state.line),
    clone: () => createCodeTracker(state),
  };
}
