import { textTokens } from '../transcript/text-tokens.ts';
import { isObserved, type ViewPart } from '../transcript/view.ts';
import { headingOf, SUMMARY_HEADINGS } from './headings.ts';
import { shortLine, spokenText, storedItem } from './item-text.ts';
import { saidByUser } from './memory-facts.ts';
import { cutSections, withoutAppended } from './sections.ts';

/** Stands first in a summary that no model wrote. */
export const EXTRACTIVE_NOTE = '(Put together by a program from the record; no model wrote it.)';

/** Tokens of one message in it. */
const MESSAGE_TOKENS = 160;

/** Newest texts of the assistant that it holds. */
const ASSISTANT_TEXTS = 6;

const [GOAL, CONSTRAINTS, PROGRESS, , OPEN, NEXT] = SUMMARY_HEADINGS.map(({ title }) => title);

/**
 * A summary without a model: what people said, what the assistant said last, and the lines of the earlier summary, under
 * the headings that every summary has. The same input gives the same text; never over `limitTokens`.
 */
export function extractiveSummary(
  dropped: readonly ViewPart[],
  previous: string | undefined,
  limitTokens: number,
): string {
  const earlier = linesByHeading(withoutAppended(previous ?? ''));
  const said = dropped.filter(
    ({ item }) => item.kind === 'user_message' && item.origin !== 'control' && !isObserved(item),
  );
  const answers = dropped.filter(({ item }) => item.kind === 'assistant_message').slice(-ASSISTANT_TEXTS);
  const made: Readonly<Record<string, readonly string[]>> = {
    [GOAL ?? '']: earlier.has(GOAL ?? '') ? [] : said.slice(0, 1).map(line),
    [CONSTRAINTS ?? '']: dropped.flatMap((part) => saidByUser(part).map(({ text, seq }) => cited(text, seq))),
    [PROGRESS ?? '']: answers.map(line),
    [OPEN ?? '']: said.slice(earlier.has(GOAL ?? '') ? 0 : 1).map(line),
    [NEXT ?? '']: [],
  };
  const body = SUMMARY_HEADINGS.map(({ title }) => {
    const old = earlier.get(title) ?? [];
    const fresh = (made[title] ?? []).filter((entry) => !old.includes(entry));
    // What was the goal stays first; of everything else the newest matters most when lines must go.
    const lines = title === GOAL ? [...old, ...fresh] : [...fresh.toReversed(), ...old];
    return `## ${title}\n${lines.length === 0 ? 'None.' : lines.join('\n')}`;
  });
  const text = [EXTRACTIVE_NOTE, ...body].join('\n');
  return textTokens(text) <= limitTokens ? text : cutSections(text, limitTokens);
}

function linesByHeading(text: string): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let title = GOAL ?? '';
  for (const raw of text.split('\n')) {
    const heading = headingOf(raw);
    const trimmed = raw.trim();
    if (heading !== undefined) title = heading;
    else if (trimmed !== '' && trimmed !== EXTRACTIVE_NOTE && !/^none\.?$/i.test(trimmed)) {
      sections.set(title, [...(sections.get(title) ?? []), trimmed]);
    }
  }
  return sections;
}

function line(part: ViewPart): string {
  return cited(shortLine(spokenText(storedItem(part)), MESSAGE_TOKENS), part.seq);
}

function cited(text: string, seq: number | null): string {
  return `- ${text}${seq === null ? '' : ` [#${seq}]`}`;
}
