import type { JsonObject } from '../../transcript/json.ts';
import type { MessageRequest } from '../../transcript/message.ts';
import { answerTo } from './answer.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { salientTerms, type Term } from './question.ts';
import { rankedPlaces } from './ranking.ts';

/** One call that the model makes. */
export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** What the model does next: look further, or answer. */
export type Move =
  | { readonly kind: 'look'; readonly say: string; readonly calls: readonly PlannedCall[] }
  | { readonly kind: 'answer'; readonly text: string };

const MAX_HITS_PER_SEARCH = 250;
const FILES_TO_READ = 4;
/** Lines to read before and after the best one. */
const READ_BEFORE = 15;
const READ_AFTER = 45;

/** Decides from the transcript alone: look around, read the best files in parallel, answer. At most two rounds of tools. */
export function nextMove(request: MessageRequest): Move {
  const evidence = evidenceOf(request.messages);
  const terms = salientTerms(evidence.question);
  const offered = request.toolChoice === 'none' ? new Set<string>() : new Set(request.tools.map((tool) => tool.name));
  const calls = callsFor(evidence, terms).filter((call) => offered.has(call.name));
  if (calls.length > 0)
    return { kind: 'look', say: evidence.rounds === 0 ? searchNote(terms) : readNote(calls), calls };
  return { kind: 'answer', text: answerTo(evidence, terms) };
}

function callsFor(evidence: Evidence, terms: readonly Term[]): readonly PlannedCall[] {
  if (evidence.rounds === 0) return exploration(terms);
  if (evidence.rounds === 1 && evidence.read.size === 0) return reading(evidence, terms);
  return [];
}

/** The listing, one search a term, and files that are named after the terms: one batch. */
function exploration(terms: readonly Term[]): readonly PlannedCall[] {
  const searches = terms.map((term) => ({
    name: 'search_text',
    input: { query: term.pattern, regex: true, caseSensitive: false, maxResults: MAX_HITS_PER_SEARCH },
  }));
  const named = terms.slice(0, 2).flatMap((term) => {
    const name = term.pattern.split('|')[0] ?? '';
    return /^[\p{L}\p{N}_-]{4,}$/u.test(name) ? [{ name: 'find_files', input: { pattern: `**/*${name}*` } }] : [];
  });
  return [{ name: 'list_dir', input: { path: '.' } }, ...searches, ...named];
}

function reading(evidence: Evidence, terms: readonly Term[]): readonly PlannedCall[] {
  const places = rankedPlaces(evidence.found, terms).slice(0, FILES_TO_READ);
  const ranges = places.map(({ path, line }) => ({
    path,
    startLine: Math.max(1, line - READ_BEFORE),
    endLine: line + READ_AFTER,
  }));
  const named = evidence.paths.filter((path) => !path.endsWith('/') && !places.some((place) => place.path === path));
  const fallback = ranges.length > 0 ? [] : [...named, ...overviews(evidence.listing)].slice(0, 2);
  return [...ranges, ...fallback.map((path) => ({ path, startLine: 1, endLine: READ_AFTER }))].map((input) => ({
    name: 'read_file',
    input,
  }));
}

function overviews(listing: readonly string[]): readonly string[] {
  return listing.filter((name) => /^readme(\.\w+)?$/i.test(name));
}

function searchNote(terms: readonly Term[]): string {
  if (terms.length === 0) return 'Looking at what this folder holds.';
  return `Searching the workspace for ${terms.map(({ word }) => `“${word}”`).join(', ')}.`;
}

function readNote(calls: readonly PlannedCall[]): string {
  return calls.length === 1 ? 'Reading the best match.' : `Reading the ${calls.length} best matches.`;
}
