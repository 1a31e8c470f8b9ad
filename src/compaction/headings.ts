/** A part that every summary must have. */
export interface SummaryHeading {
  readonly title: string;
  /** What the model is told to write there. */
  readonly holds: string;
  /** Other words by which the heading is known, in lower case. */
  readonly alias: readonly string[];
}

/** The parts of a summary, in order. Titles stay English whatever the language of the text, so that they are found again. */
export const SUMMARY_HEADINGS: readonly SummaryHeading[] = [
  {
    title: 'Goal',
    holds: 'what the user wants, in the user’s own words where they are short',
    alias: ['goals', 'objective'],
  },
  {
    title: 'Constraints and preferences',
    holds: 'every rule, limit and wish of the user that still holds',
    alias: ['constraints', 'preferences', 'constraints & preferences'],
  },
  {
    title: 'Done / In progress / Blocked',
    holds: 'what is finished and with what outcome, what is under way, what is stuck and why',
    alias: ['done', 'in progress', 'blocked', 'progress', 'done, in progress, blocked', 'status'],
  },
  {
    title: 'Decisions',
    holds: 'what was decided and why, also what was tried and dropped',
    alias: ['key decisions', 'decision'],
  },
  {
    title: 'Open questions and pending asks',
    holds: 'what the user asked and has not got yet, what the user was asked',
    alias: ['open questions', 'pending asks', 'open questions & pending asks'],
  },
  { title: 'Next steps', holds: 'what comes next, in order', alias: ['next step', 'next'] },
  {
    title: 'Exact identifiers',
    holds: 'paths, URLs, ids, numbers, versions and names that are still needed, copied character by character',
    alias: ['identifiers'],
  },
];

/** The title that a line is the heading of, whatever its level, number, case or emphasis. */
export function headingOf(line: string): string | undefined {
  const trimmed = line.trim();
  if (trimmed.length > 90 || !looksLikeHeading(trimmed)) return undefined;
  const words = plainHeading(trimmed);
  return SUMMARY_HEADINGS.find(({ title, alias }) => words === plainHeading(title) || alias.includes(words))?.title;
}

/** Titles that no line of the text is the heading of. */
export function missingHeadingsOf(text: string): readonly string[] {
  const found = new Set(text.split('\n').map(headingOf));
  return SUMMARY_HEADINGS.map(({ title }) => title).filter((title) => !found.has(title));
}

/** Whether a line opens a section of its own: a Markdown heading, or a line that is emphasised as a whole. */
export function opensSection(line: string): boolean {
  const trimmed = line.trim();
  return /^#{1,6}\s/.test(trimmed) || headingOf(trimmed) !== undefined;
}

function looksLikeHeading(line: string): boolean {
  return (
    /^#{1,6}\s*\S/.test(line) ||
    /^(?:\d{1,2}[.)]\s*)?(?:\*\*|__)[^*_]+(?:\*\*|__):?$/.test(line) ||
    /^(?:\d{1,2}[.)]\s*)?[A-Z][\w &/,]*:?$/.test(line)
  );
}

function plainHeading(line: string): string {
  return line
    .replace(/[#*_`]/g, '')
    .trim()
    .replace(/^\d{1,2}[.)]\s*/, '')
    .replace(/^[^\p{L}]+/u, '')
    .replace(/[:：\s]+$/u, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
