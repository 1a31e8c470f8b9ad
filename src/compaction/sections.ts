import { textTokens } from '../transcript/text-tokens.ts';
import { headOf } from '../transcript/well-formed.ts';
import { missingHeadingsOf, opensSection } from './headings.ts';
import { greatest, RECORD_HEADING } from './identifier-record.ts';
import { LEDGER_HEADING } from './ledger.ts';

/** Heading of the excerpts that fill what a summary leaves of its room. */
export const EXCERPTS_HEADING = '## Excerpts from the record';

/** Sections that a program appends; each summary gets its own. */
const APPENDED: readonly string[] = [RECORD_HEADING, LEDGER_HEADING, EXCERPTS_HEADING];

interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** A summary without what a program appended to it, or to the earlier one and a model copied. */
export function withoutAppended(summary: string): string {
  return joined(
    sectionsOf(summary).filter(({ heading }) => !APPENDED.some((own) => plain(own) === plain(heading))),
  ).trim();
}

/** The text with the headings that it lacks, at its end, so that every summary has all of them. */
export function withAllHeadings(text: string): string {
  const missing = missingHeadingsOf(text).map((title) => `## ${title}\nNone.`);
  return [text.trim(), ...missing].join('\n\n').trim();
}

/**
 * A text within `limitTokens`: the longest sections lose lines from their end, as evenly as they can; headings stay. Cut
 * hard where not even the headings fit.
 */
export function cutSections(text: string, limitTokens: number): string {
  if (textTokens(text) <= limitTokens) return text;
  const sections = sectionsOf(text);
  const most = Math.max(0, ...sections.map(({ lines }) => textTokens(lines.join('\n'))));
  const cut = (cap: number): string => joined(sections.map((section) => capped(section, cap)));
  const cap = greatest(most, (candidate) => textTokens(cut(candidate)) <= limitTokens);
  const result = cut(cap);
  if (textTokens(result) <= limitTokens) return result;
  return headOf(
    result,
    greatest(result.length, (length) => textTokens(headOf(result, length)) <= limitTokens),
  );
}

/** Whole lines up to `cap` tokens; a first line that is too long for it is cut inside. */
function capped({ heading, lines }: Section, cap: number): Section {
  const kept: string[] = [];
  let room = cap;
  for (const line of lines) {
    const cost = textTokens(`${line}\n`);
    if (cost > room) {
      if (kept.length === 0 && room > 8) {
        kept.push(
          `${headOf(
            line,
            greatest(line.length, (length) => textTokens(`${headOf(line, length)}…`) <= room),
          )}…`,
        );
      }
      break;
    }
    kept.push(line);
    room -= cost;
  }
  return { heading, lines: kept };
}

function sectionsOf(text: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }];
  for (const line of text.split('\n')) {
    if (opensSection(line)) sections.push({ heading: line, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.filter(({ heading, lines }) => heading !== '' || lines.some((line) => line.trim() !== ''));
}

function joined(sections: readonly Section[]): string {
  return sections.map(({ heading, lines }) => [...(heading === '' ? [] : [heading]), ...lines].join('\n')).join('\n');
}

function plain(heading: string): string {
  return heading
    .replace(/[#*_:]/g, '')
    .trim()
    .toLowerCase();
}
