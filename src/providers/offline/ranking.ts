import { groupedByPath, type SeenLine } from './evidence.ts';
import type { Term } from './question.ts';

/** A file, and the place in it that speaks most of what was asked. */
export interface Place {
  readonly path: string;
  /** The best line, from 1. */
  readonly line: number;
  readonly score: number;
}

/** Lines that stand within this distance of each other count as one passage. */
const PASSAGE_LINES = 12;

/** Share of the best score below which a place only distracts. */
const WORTH_SHOWING = 0.3;

/** What a path says about how likely the answer stands there. The first that matches rules. */
const PATH_WORTH: readonly { readonly path: RegExp; readonly worth: number }[] = [
  { path: /(^|\/)(node_modules|dist|build|vendor|target|out|coverage)\//, worth: 0.1 },
  { path: /(lock\.json|\.lock|\.min\.\w+|\.map|\.snap|\.csv|\.jsonl|\.svg)$/, worth: 0.1 },
  {
    path: /(^|\/)(tests?|specs?|__tests__|fixtures?|examples?|benchmarks?|bench)\/|[._-](test|spec)\.\w+$|_test\.\w+$/,
    worth: 0.2,
  },
  { path: /(^|\/)(changelog|history|license|todo)[^/]*$/i, worth: 0.3 },
  { path: /\.(md|mdx|rst|txt|adoc)$/i, worth: 0.6 },
];

/** Code that names something new: where an answer to "where" usually stands. */
const DEFINITION =
  /\b(function|class|interface|type|const|enum|struct|trait|impl|def|fn|func|fun|module|object|record|protocol|namespace|sub|proc)\b\s+[\p{L}_$]/u;

/** Files by how well they answer, best first; ties by path, so that the order is always the same. */
export function rankedPlaces(lines: readonly SeenLine[], terms: readonly Term[]): readonly Place[] {
  const matchers = matchersOf(lines, terms);
  const byPath = groupedByPath(lines);
  const places = [...byPath].map(([path, rows]) => placeIn(path, rows, matchers));
  places.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  const enough = (places[0]?.score ?? 0) * WORTH_SHOWING;
  return places.filter(({ score }) => score > 0 && score >= enough);
}

interface Matcher {
  readonly pattern: RegExp;
  readonly weight: number;
}

/** Rare words tell more than common ones: weight falls with the share of files that hold the word. */
function matchersOf(lines: readonly SeenLine[], terms: readonly Term[]): readonly Matcher[] {
  const files = new Set(lines.map((line) => line.path)).size;
  return terms.map((term) => {
    const pattern = new RegExp(term.pattern, 'iu');
    const holding = new Set(lines.filter((line) => pattern.test(line.text)).map((line) => line.path)).size;
    return { pattern, weight: term.weight * (1 + Math.log((files + 1) / (holding + 1))) };
  });
}

function placeIn(path: string, rows: readonly SeenLine[], matchers: readonly Matcher[]): Place {
  const inName = sum(matchers.map(({ pattern, weight }) => (pattern.test(path) ? weight : 0)));
  let best = { line: rows[0]?.line ?? 1, score: 0 };
  for (const row of rows) {
    const passage = rows.filter((other) => Math.abs(other.line - row.line) <= PASSAGE_LINES);
    const around = sum(
      matchers.map(({ pattern, weight }) => (passage.some(({ text }) => pattern.test(text)) ? weight : 0)),
    );
    const score = around + lineScore(row.text, matchers);
    if (score > best.score) best = { line: row.line, score };
  }
  const mass = best.score > 0 ? Math.log2(1 + rows.length) / 4 : 0;
  const covered = matchers.filter(({ pattern }) => pattern.test(path) || rows.some(({ text }) => pattern.test(text)));
  // A file that speaks of all that was asked is worth more than one that speaks much of a part of it.
  const coverage = covered.length / Math.max(1, matchers.length);
  return { path, line: best.line, score: (best.score + inName + mass) * coverage * pathWorth(path) };
}

/** What one line is worth: the terms it holds, more when it defines something, less when it only imports or comments. */
export function lineScore(text: string, matchers: readonly Matcher[]): number {
  const own = sum(matchers.map(({ pattern, weight }) => (pattern.test(text) ? weight : 0)));
  if (/^\s*(import|from|using|#include|require|export \* from|export \{)/.test(text)) return own * 0.3;
  return DEFINITION.test(text) ? own * 1.6 : own;
}

function pathWorth(path: string): number {
  return PATH_WORTH.find((rule) => rule.path.test(path))?.worth ?? 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
