import { emitKeypressEvents } from 'node:readline';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { prettyRenderer } from '../render/pretty.ts';
import { visible } from '../render/visible.ts';
import { ChatScreen } from './chat-screen.ts';
import type { Conversation, ConversationOptions } from './conversation.ts';
import { type Key, LineEditor } from './line-editor.ts';
import { readLine } from './read-line.ts';

/** Has the terminal mark what is pasted (xterm's bracketed paste mode), so that its line ends send nothing. */
const MARK_PASTED = '\u001b[?2004h';
const DO_NOT_MARK = '\u001b[?2004l';

type Show = Pick<ConversationOptions, 'renderer' | 'tell'>;

export interface TerminalChat {
  readonly show: Show;
  /** Talks until the person leaves, or `signal` aborts. */
  talk(conversation: Conversation, signal: AbortSignal): Promise<ExitCode>;
  /** Gives the terminal back as it was. Does nothing the second time. */
  close(): void;
}

/** Takes the terminal: from now on all that is shown goes through `show`. */
export function openTerminalChat(): TerminalChat {
  const { stdin, stdout } = process;
  const editor = new LineEditor();
  const screen = new ChatScreen({
    write: (text) => void stdout.write(text),
    columns: () => stdout.columns,
    colour: (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb',
    typed: (columns) => editor.shown(columns),
  });
  const resized = (): void => screen.refresh();
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdout.write(MARK_PASTED);
  stdout.on('resize', resized);
  screen.refresh();
  let open = true;
  return {
    show: {
      renderer: () => prettyRenderer({ screen, now: () => performance.now(), rows: () => stdout.rows }),
      tell: (lines, style) => {
        for (const line of lines.split('\n')) screen.line(line, style);
      },
    },
    talk: (conversation, signal) => talk({ conversation, signal, editor, screen }),
    close: () => {
      if (!open) return;
      open = false;
      screen.close();
      stdout.off('resize', resized);
      stdout.write(DO_NOT_MARK);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

interface Talk {
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  readonly editor: LineEditor;
  readonly screen: ChatScreen;
}

/** One line after the other, in the order in which they were entered. */
async function talk({ conversation, signal, editor, screen }: Talk): Promise<ExitCode> {
  const { stdin } = process;
  let work = Promise.resolve();
  let cancelling = false;
  return await new Promise<ExitCode>((resolve) => {
    const leave = (code: ExitCode): void => {
      stdin.off('keypress', pressed);
      signal.removeEventListener('abort', aborted);
      resolve(code);
    };
    const aborted = (): void => leave(EXIT.cancelled);
    const enter = (text: string): void => {
      const line = readLine(text);
      screen.line(screen.styled(`> ${visible(text)}`, 'bold'));
      if (line.kind === 'leave') leave(EXIT.ok);
      else work = work.then(() => conversation.obey(line));
    };
    const interrupt = (): void => {
      if (!conversation.busy || cancelling) {
        leave(conversation.busy ? EXIT.cancelled : EXIT.ok);
        return;
      }
      cancelling = true;
      screen.line('Cancelling; Ctrl-C again leaves.', 'yellow');
      void conversation.obey({ kind: 'cancel' });
      void conversation.idle().then(() => {
        cancelling = false;
      });
    };
    const pressed = (typed: string | undefined, key: Key): void => {
      const keyed = editor.key(typed, key);
      if (keyed.kind === 'entered') enter(keyed.text);
      else if (keyed.kind === 'interrupt') interrupt();
      else if (keyed.kind === 'leave') leave(EXIT.ok);
      else screen.refresh();
    };
    signal.addEventListener('abort', aborted, { once: true });
    stdin.on('keypress', pressed);
  });
}
