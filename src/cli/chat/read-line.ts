/** What a line of the chat asks for. */
export type ChatLine =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'compact'; readonly instructions: string | undefined }
  | { readonly kind: 'approve'; readonly call: string | undefined; readonly session: boolean }
  /** Its first word may be the beginning of a call's id; else all of it is the note. */
  | { readonly kind: 'deny'; readonly words: string }
  /** `provider/model`; absent: tell which one it is. */
  | { readonly kind: 'model'; readonly name: string | undefined }
  | { readonly kind: 'cost' }
  | { readonly kind: 'help' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'wrong'; readonly why: string };

/** Lines that begin with a slash are commands, two slashes a message that begins with one; everything else is a message. */
export function readLine(line: string): ChatLine {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (!text.startsWith('/')) return { kind: 'message', text };
  if (text.startsWith('//')) return { kind: 'message', text: text.slice(1) };
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  const read = COMMANDS.get(name);
  if (read !== undefined) return read(rest.trim());
  return {
    kind: 'wrong',
    why: `There is no command /${name}. /help tells what there is; //${name} sends it as a message.`,
  };
}

type Read = (rest: string) => ChatLine;

const bare =
  (line: ChatLine, name: string): Read =>
  (rest) =>
    rest === '' ? line : { kind: 'wrong', why: `/${name} takes nothing after it.` };
const cancel = (name: string): [string, Read] => [name, bare({ kind: 'cancel' }, name)];

const COMMANDS: ReadonlyMap<string, Read> = new Map<string, Read>([
  cancel('cancel'),
  cancel('stop'),
  ['compact', (rest) => ({ kind: 'compact', instructions: rest === '' ? undefined : rest })],
  ['approve', approve],
  ['deny', (rest) => ({ kind: 'deny', words: rest })],
  ['model', model],
  ['cost', bare({ kind: 'cost' }, 'cost')],
  ['help', bare({ kind: 'help' }, 'help')],
  ['quit', bare({ kind: 'leave' }, 'quit')],
  ['exit', bare({ kind: 'leave' }, 'exit')],
]);

function approve(rest: string): ChatLine {
  const words = rest.split(/\s+/).filter((word) => word !== '');
  const session = words.at(-1) === 'session';
  const [call, ...more] = session ? words.slice(0, -1) : words;
  if (more.length > 0)
    return { kind: 'wrong', why: 'Write /approve, with a call where several wait, or /approve session.' };
  return { kind: 'approve', call, session };
}

function model(rest: string): ChatLine {
  if (rest === '') return { kind: 'model', name: undefined };
  if (/^[^/\s]+\/\S+$/.test(rest)) return { kind: 'model', name: rest };
  return { kind: 'wrong', why: 'Write /model provider/name, such as /model anthropic/claude-sonnet-4-5.' };
}

/** Fewest characters by which a call can be named in front of a note. */
const MIN_CALL = 4;

/** Call and note of `/deny`, given the ids of the calls that wait. */
export function denial(words: string, waiting: readonly string[]): { readonly call?: string; readonly note?: string } {
  const [, first = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(words.trim()) ?? [];
  const names = first.length >= MIN_CALL && waiting.some((callId) => callId.startsWith(first));
  const note = names ? rest : words.trim();
  return { ...(names ? { call: first } : {}), ...(note === '' ? {} : { note }) };
}

export const HELP = `Enter sends; while a run works it steers it. Alt-Enter begins a new line.
/cancel (or /stop)        stops the run
/approve [CALL] [session] lets a call that waits run, for the session: all of its tool
/deny [CALL] [NOTE]       does not, and tells the model why
/compact [INSTRUCTIONS]   replaces an old part of the session by a summary
/model [PROVIDER/NAME]    model from the next message on
/cost                     tokens and dollars of the session
/quit                     leaves, as Ctrl-D; Ctrl-C stops the run, and leaves where none works`;
