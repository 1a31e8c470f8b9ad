import { type Evidence, repeats, type SeenLine } from './evidence.ts';
import type { Term } from './question.ts';
import { type Place, rankedPlaces } from './ranking.ts';

/** First line of every answer: nobody may take it for the work of a language model. */
export const OFFLINE_NOTICE =
  'This is offline/extractive, a deterministic model that searches and quotes; it is not an LLM and does not reason.';

const MAX_QUOTES = 4;
const LINES_BEFORE = 2;
const LINES_AFTER = 5;
const MAX_LINE_CHARACTERS = 160;
const MAX_LISTED = 12;

/** Answers with quoted lines and where they stand, or says that nothing matched. */
export function answerTo(evidence: Evidence, terms: readonly Term[]): string {
  const seen = [...evidence.read.values()].flat().filter((line) => !repeats(line, evidence.question));
  const places = rankedPlaces(seen.length > 0 ? seen : evidence.found, terms).slice(0, MAX_QUOTES);
  const body = places.length > 0 ? matches(places, evidence, terms) : nothing(evidence, terms);
  return [OFFLINE_NOTICE, '', ...body].join('\n');
}

function matches(places: readonly Place[], evidence: Evidence, terms: readonly Term[]): readonly string[] {
  const [best] = places;
  const searched = terms.map(({ word }) => word).join(', ');
  const files = new Set(evidence.found.map(({ path }) => path)).size;
  const scope = files > 0 ? ` (found in ${files} ${files === 1 ? 'file' : 'files'})` : '';
  return [
    `Best match for ${searched}${scope}: \`${best?.path}:${best?.line}\``,
    ...places.flatMap((place) => quotation(place.path, place.line, rowsOf(place, evidence))),
  ];
}

function rowsOf(place: Place, evidence: Evidence): readonly SeenLine[] {
  return evidence.read.get(place.path) ?? evidence.found.filter(({ path }) => path === place.path);
}

function quotation(path: string, at: number, rows: readonly SeenLine[]): readonly string[] {
  const shown = rows.filter(({ line }) => line >= at - LINES_BEFORE && line <= at + LINES_AFTER);
  const quoted = shown.map((row) => `${row.line}  ${clipped(row.text)}`);
  const fence = '`'.repeat(Math.max(3, ...quoted.map((row) => 1 + longestRun(row))));
  return ['', `\`${path}:${at}\``, fence, ...quoted, fence];
}

function nothing(evidence: Evidence, terms: readonly Term[]): readonly string[] {
  const words = terms.map(({ word }) => `“${word}”`).join(', ');
  const said =
    terms.length === 0
      ? 'Your message names nothing to search for; this is what the workspace holds.'
      : `Nothing in this workspace matches ${words}.`;
  const failed = evidence.failures.slice(0, 3).map((failure) => `A tool failed: ${failure}`);
  const listed = evidence.listing.slice(0, MAX_LISTED);
  const more = evidence.listing.length > listed.length ? ', …' : '';
  const top = listed.length === 0 ? [] : [`At its top it holds: ${listed.join(', ')}${more}`];
  return [said, ...failed, ...top, ...[...evidence.read].flatMap(([path, rows]) => opening(path, rows))];
}

/** The beginning of a file that was read for want of a match, such as a README. */
function opening(path: string, rows: readonly SeenLine[]): readonly string[] {
  const [first] = rows;
  return first === undefined ? [] : quotation(path, first.line, rows);
}

function clipped(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_LINE_CHARACTERS ? text : `${characters.slice(0, MAX_LINE_CHARACTERS).join('')}…`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
