import type { Asked } from './caching/asked.ts';
import type { ScriptedAnswer } from './caching/scripted.ts';
import { seededRandom } from './random.ts';

/** A model that is asked for a summary. */
export type Summariser = (asked: Asked) => ScriptedAnswer;

/** Headings that a request for a summary names, in order; fewer than this is no such request. */
const LEAST_HEADINGS = 5;

/** Whether a request asks for a summary: by its form, a list of Markdown headings each with a hint of what goes there. */
export function isSummarising(asked: Asked): boolean {
  return headingsOf(asked).length >= LEAST_HEADINGS;
}

/** The headings to be filled in: named by the last thing the user said, or by the system prompt. */
function headingsOf({ system, lastUser }: Asked): readonly string[] {
  const named = (text: string) => [...text.matchAll(/^(#{2,3} .+)\n\(.+\)$/gm)].map(([, heading]) => heading ?? '');
  const said = named(lastUser);
  return said.length >= LEAST_HEADINGS ? said : named(system);
}

/** Words that stand for something exact: they hold a digit, or look like a path. Citations (`[#12]`) are none. */
export function exactWords(text: string): readonly string[] {
  const words = text.replace(/\[#[\d\s#,–-]+\]/g, ' ').match(/[\p{L}\d][\p{L}\d._/-]*/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/[._/-]+$/, '')).filter((word) => /\d/.test(word)))];
}

/** A good summary: every heading, and every exact word of what it was given that `keeps` wants. */
export function faithful(keeps: (word: string) => boolean = () => true): Summariser {
  return (asked) => summaryOf(asked, exactWords(asked.text).filter(keeps));
}

/** As {@link faithful}, but each exact word is forgotten with the given probability, anew in each summary. */
export function forgetful(share: number, seed: number, keeps: (word: string) => boolean = () => true): Summariser {
  const random = seededRandom(seed);
  return (asked) =>
    summaryOf(
      asked,
      exactWords(asked.text).filter((word) => keeps(word) && random() >= share),
    );
}

/** A summary with every heading that says this and nothing else. */
export function telling(text: string): Summariser {
  return (asked) => ({
    text: headingsOf(asked)
      .map((heading, at) => `${heading}\n${at === 0 ? text : 'None.'}`)
      .join('\n\n'),
  });
}

/** Answers, but says nothing. */
export const silent: Summariser = () => ({ text: '' });

/** Spends everything it may write on thinking. */
export const thinksOnly: Summariser = ({ maxOutput = 1000 }) => ({
  reasoning: 'Let me think about it. '.repeat(maxOutput),
});

/** Goes on working instead: asks for a tool, offered or not. */
export function callsTool(name: string, args: unknown): Summariser {
  return () => ({ calls: [{ name, args }] });
}

/** Refuses every request that takes more than `window` tokens. */
export function smallWindow(window: number, inner: Summariser): Summariser {
  return (asked) => {
    if (asked.counted + (asked.maxOutput ?? 0) <= window) return inner(asked);
    const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${asked.counted} tokens. Please reduce the length of the messages.`;
    const error = { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' };
    return { status: 400, body: { error } };
  };
}

function summaryOf(asked: Asked, words: readonly string[]): ScriptedAnswer {
  const sections = headingsOf(asked).map((heading) => {
    const exact = /identifier|exact|file|name/i.test(heading) && words.length > 0;
    return `${heading}\n${exact ? words.join(', ') : 'The work goes on as agreed.'}`;
  });
  const named = sections.some((section) => words.length > 0 && section.includes(words.join(', ')));
  return { text: [...sections, ...(named || words.length === 0 ? [] : [words.join(', ')])].join('\n\n') };
}
