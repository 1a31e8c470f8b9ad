import { readFileSync } from 'node:fs';
import { type Case, readCases } from './runner/case-file.ts';

const FILE = new URL('./cases.jsonl', import.meta.url);
const CASES = new Map(readCases(readFileSync(FILE, 'utf8'), 'cases.jsonl').map((one) => [one.id, one]));

/** The case of that id. */
export function findCase(id: string): Case {
  const found = CASES.get(id);
  if (found === undefined) throw new TypeError(`there is no case ${id}`);
  return found;
}

/** All cases, in the order of the file. */
export function allCases(): readonly Case[] {
  return [...CASES.values()];
}
