import type { ContentBlock, TranscriptEntry } from './items.ts';

/** Who said the words of a fact first: a person, a tool (or anybody else who is not the user), or the model alone. */
export interface WordOrigin {
  readonly origin: 'user' | 'tool' | 'assistant';
  /** Item that says most of it; `null` where none does. */
  readonly seq: number | null;
  /** Call whose output says it, and its tool, where it is one. */
  readonly callId?: string;
  readonly tool?: string;
}

/** Finds out where the words of a fact come from: hand it a session's items in order, then ask. */
export interface OriginSearch {
  add(entries: readonly TranscriptEntry[]): void;
  origin(): WordOrigin;
}

/**
 * Whose words a fact is made of, judged by its words that carry meaning (exact names whole).
 *
 * A fact is the user's when the user said at least half of them, and none of the rest stands in something that came from
 * outside. It is the model's own when no outside text was there at all to lead it. Everything else counts as a tool's: an
 * instruction that was planted in an output is worded by the output, or reworded in words that nobody said.
 */
export function originSearch(fact: string): OriginSearch {
  const words = wordsOf(fact);
  const [user, outside] = [new Heard(words), new Heard(words)];
  const names = new Map<string, string>();
  let outsiders = false;
  const hearOutside = (blocks: readonly ContentBlock[], place: Omit<WordOrigin, 'origin'>): void => {
    outsiders = true;
    outside.hear(textOf(blocks), place);
  };
  return {
    add(entries) {
      for (const { seq, item } of entries) {
        if (item.kind === 'user_message' && (item.origin === 'user' || item.origin === 'steer'))
          user.hear(textOf(item.content), { seq });
        if (item.kind === 'user_message' && item.origin === 'observed') hearOutside(item.content, { seq });
        if (item.kind === 'tool_call_batch') for (const { callId, name } of item.calls) names.set(callId, name);
        if (item.kind === 'builtin_tool_event' && item.phase === 'result')
          hearOutside([{ type: 'extension', name: item.name, data: item.payload }], { seq, tool: item.name });
        if (item.kind !== 'tool_result_batch') continue;
        for (const { callId, content } of item.results) {
          const tool = names.get(callId);
          hearOutside(content, { seq, callId, ...(tool === undefined ? {} : { tool }) });
        }
      }
    },
    origin() {
      const led = [...outside.words].some((word) => !user.words.has(word));
      if (!led && words.size > 0 && user.words.size * 2 >= words.size) return { origin: 'user', ...user.best };
      return outsiders ? { origin: 'tool', ...outside.best } : { origin: 'assistant', seq: null };
    },
  };
}

/** Which of the words one side has said, and where most of them stood. */
class Heard {
  readonly words: Set<string> = new Set();
  best: Omit<WordOrigin, 'origin'> = { seq: null };
  readonly #wanted: ReadonlySet<string>;
  #most = 0;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  hear(text: string, place: Omit<WordOrigin, 'origin'>): void {
    const found = [...wordsOf(text)].filter((word) => this.#wanted.has(word));
    for (const word of found) this.words.add(word);
    if (found.length <= this.#most) return;
    this.#most = found.length;
    this.best = place;
  }
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks
    .flatMap((block) => {
      if (block.type === 'text') return [block.text];
      return block.type === 'extension' ? [JSON.stringify(block.data)] : [];
    })
    .join('\n');
}

/** Words, and exact names such as paths, addresses and versions as one. */
const WORD = /[\p{L}\p{N}_]+(?:[./:@\\#+=~-]+[\p{L}\p{N}_]+)*/gu;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** Words without meaning of their own, and those that a model puts around what a user said. */
const EMPTY: ReadonlySet<string> = new Set(
  `a an and are as at be been but by can could did do does for from had has have he her hers him his i if in into is it its
  me my of on or our ours she so that the their them then there these they this those to us was we were will with would you
  your yours user users like likes liked prefer prefers preferred want wants wanted ask asks asked say says said tell tells
  told note remember remembers`.split(/\s+/),
);

/** Meaningful words, case folded, endings of English words off; pairs of characters where words are not spaced. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  const folded = text.normalize('NFKC').toLowerCase();
  for (const [run] of folded.matchAll(UNSPACED)) {
    if (run.length === 1) words.add(run);
    for (let at = 0; at + 1 < run.length; at += 1) words.add(run.slice(at, at + 2));
  }
  for (const [word] of folded.replace(UNSPACED, ' ').matchAll(WORD)) {
    if (!EMPTY.has(word) && (word.length > 1 || /\p{N}/u.test(word))) words.add(stem(word));
  }
  return words;
}

function stem(word: string): string {
  return /^[a-z]{5,}$/.test(word) ? word.replace(/(?<=^.{3,})(?:ing|ed|es|s|ly|e)$/, '') : word;
}
