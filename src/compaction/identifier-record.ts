import { textTokens } from '../transcript/text-tokens.ts';
import { isObserved, type ViewPart } from '../transcript/view.ts';
import { tailOf } from '../transcript/well-formed.ts';
import { holdsIdentifier, type Identifier, type IdentifierKind, identifiersOf } from './identifiers.ts';
import { spokenText, storedItem } from './item-text.ts';
import { type ArtifactLedger, writtenFiles } from './ledger.ts';

/** Heading and labels of the section that keeps names which a summary left out. */
export const RECORD_HEADING = '## Exact identifiers kept from the record';
const LABELS = { user: 'Said by the user:', file: 'Files changed:', other: 'Others:' } as const;
type Label = keyof typeof LABELS;

/** An exact name of the conversation with what is known of it. */
export interface RecordedIdentifier {
  readonly text: string;
  readonly kind: IdentifierKind;
  /** `user`: a person said it. `file`: a tool wrote it. */
  readonly label: Label;
  /** Whether the earlier summary held it. */
  readonly earlier: boolean;
  /** Whether the assistant asked something about it. */
  readonly asked: boolean;
  /** First item that named it, where known. */
  readonly seq: number | null;
  /** A few words of what it is about; may be empty. */
  readonly about: string;
  /** Items that named it. */
  readonly uses: number;
  readonly lastSeq: number;
}

const KIND_WORTH: Readonly<Record<IdentifierKind, number>> = {
  path: 0,
  url: 1,
  email: 1,
  id: 2,
  uuid: 2,
  host: 3,
  variable: 3,
  flag: 4,
  version: 4,
  hash: 5,
  name: 6,
  number: 7,
};

/** By what a kind is worth where nothing else tells, then by position. */
export function byWorth(identifiers: readonly Identifier[]): readonly Identifier[] {
  return identifiers.toSorted((a, b) => KIND_WORTH[a.kind] - KIND_WORTH[b.kind] || a.start - b.start);
}

export interface RecordInput {
  /** What a summary replaces. */
  readonly dropped: readonly ViewPart[];
  /** The earlier summary, with everything that was appended to it. */
  readonly previous: string | undefined;
  readonly ledger: ArtifactLedger;
}

/**
 * All exact names of what a summary replaces, the most important first: those of the earlier summary that a person said,
 * what a person said since, the rest of the earlier summary, files written, what the assistant asked about, then by
 * frequency, kind and recency.
 */
export function identifierRecord({ dropped, previous, ledger }: RecordInput): readonly RecordedIdentifier[] {
  const record = new Map<string, RecordedIdentifier>();
  for (const found of earlierIdentifiers(previous ?? '')) record.set(found.text, found);
  const written = new Set(writtenFiles(ledger));
  for (const part of dropped) {
    if (isObserved(part.item)) continue;
    const item = storedItem(part);
    const label = item.kind === 'user_message' && item.origin !== 'control' ? 'user' : 'other';
    const text = spokenText(item);
    const asked = item.kind === 'assistant_message' && /[?？]\s*$/.test(text);
    for (const found of identifiersOf(text)) {
      const at = { label, seq: part.seq, written: written.has(found.text), asked } as const;
      record.set(found.text, merged(record.get(found.text), found, text, at));
    }
  }
  return [...record.values()].sort(
    (a, b) => rank(a) - rank(b) || b.uses - a.uses || KIND_WORTH[a.kind] - KIND_WORTH[b.kind] || b.lastSeq - a.lastSeq,
  );
}

function rank({ earlier, label, asked }: RecordedIdentifier): number {
  if (label === 'user') return earlier ? 0 : 1;
  if (earlier) return 2;
  if (label === 'file') return 3;
  return asked ? 4 : 5;
}

function merged(
  known: RecordedIdentifier | undefined,
  found: Identifier,
  text: string,
  at: { readonly label: Label; readonly seq: number | null; readonly written: boolean; readonly asked: boolean },
): RecordedIdentifier {
  const label =
    at.label === 'user' || known?.label === 'user' ? 'user' : at.written ? 'file' : (known?.label ?? 'other');
  const lastSeq = Math.max(known?.lastSeq ?? 0, at.seq ?? 0);
  if (known !== undefined) {
    return { ...known, label, asked: known.asked || at.asked, uses: known.uses + 1, lastSeq };
  }
  const { kind } = found;
  return {
    text: found.text,
    kind,
    label,
    earlier: false,
    asked: at.asked,
    seq: at.seq,
    about: aboutOf(text, found),
    uses: 1,
    lastSeq,
  };
}

/** Names of an earlier summary in the order of its text, with the label and citation that they stood under. */
function earlierIdentifiers(previous: string): readonly RecordedIdentifier[] {
  const found = new Map<string, RecordedIdentifier>();
  let label: Label = 'other';
  let inRecord = false;
  for (const line of previous.split('\n')) {
    if (line.startsWith('#')) {
      inRecord = line === RECORD_HEADING;
      label = 'other';
    }
    // Elsewhere anybody may have written the words of a label.
    if (inRecord) label = (Object.keys(LABELS) as Label[]).find((key) => line.startsWith(LABELS[key])) ?? label;
    for (const identifier of identifiersOf(line)) {
      if (found.has(identifier.text)) continue;
      const { text, kind, end } = identifier;
      const cited = /^[^[]*\[#(\d+)/.exec(line.slice(end));
      const seq = cited === null ? null : Number(cited[1]);
      const about = aboutOf(line, identifier);
      found.set(text, { text, kind, label, earlier: true, asked: false, seq, about, uses: 1, lastSeq: seq ?? 0 });
    }
  }
  return [...found.values()];
}

const STOP_WORDS = new Set(
  'a an and are as at be by for from has have in is it its of on or that the this to was were will with path file url'.split(
    ' ',
  ),
);

/** The few words before a name on its line: what an order, a port, a file is for. */
function aboutOf(text: string, { start }: Identifier): string {
  const from = Math.max(text.lastIndexOf('\n', start - 1) + 1, start - 60);
  const before = text.slice(from, start);
  const clean = before.replace(/\[#[^\]]*\]/g, ' ').replace(/[^\p{L}\p{N}\s'-]+/gu, ' ');
  const cjk = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+$/.exec(clean.trimEnd())?.[0];
  if (cjk !== undefined) return cjk.slice(-6);
  const words = clean
    .split(/\s+/)
    .map((word) => word.replace(/^[-']+|[-']+$/g, ''))
    .filter((word) => /^\p{L}+/u.test(word) && !/\d/.test(word) && !STOP_WORDS.has(word.toLowerCase()));
  return tailOf(words.slice(-2).join(' '), 30).trim();
}

/** What the line ends between two sections may cost. */
const JOINT_TOKENS = 2;

export interface Restored {
  /** The section, or nothing. */
  readonly section: string;
  readonly count: number;
}

/**
 * The section with the names that `text` does not hold: as many as fit, the most important first, and the first of them
 * with what they are about and a citation while there is room for that. What stood in the earlier summary leaves at least
 * a quarter of a full room to what is new.
 *
 * @param limitTokens of `text` and section together.
 */
export function restoreIdentifiers(text: string, record: readonly RecordedIdentifier[], limitTokens: number): Restored {
  const missing = record.filter((entry) => !holdsIdentifier(text, entry.text));
  // Two tokens more than both: what a joint may cost. Measured apart, as the text is long and tried against often.
  const room = limitTokens - textTokens(text) - JOINT_TOKENS;
  const fits = (section: string): boolean => textTokens(section) <= room;
  const ordered = shared(missing, room);
  const count = greatest(ordered.length, (n) => fits(sectionOf(ordered.slice(0, n), 0)));
  if (count === 0) return { section: '', count: 0 };
  const kept = ordered.slice(0, count);
  const rich = greatest(count, (n) => fits(sectionOf(kept, n)));
  return { section: sectionOf(kept, rich), count };
}

/** Tokens that all the names would take which `text` does not hold, as short as they can be. */
export function bareTokens(text: string, record: readonly RecordedIdentifier[]): number {
  const missing = record.filter((entry) => !holdsIdentifier(text, entry.text));
  return missing.length === 0 ? 0 : textTokens(sectionOf(missing, 0));
}

/** Puts new names before the last quarter of the room, when the earlier ones alone would fill it. */
function shared(missing: readonly RecordedIdentifier[], room: number): readonly RecordedIdentifier[] {
  let used = 0;
  const at = missing.findIndex((entry) => {
    used += textTokens(` ${entry.text}`);
    return used > room * 0.75;
  });
  if (at === -1) return missing;
  const old = missing.slice(at).filter(({ earlier }) => earlier);
  const fresh = missing.slice(at).filter(({ earlier }) => !earlier);
  return [...missing.slice(0, at), ...fresh, ...old];
}

/** The largest `n` up to `most` for which `holds(n)`, which must hold for all smaller ones then. */
export function greatest(most: number, holds: (n: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The first `rich` with context, each on its line; the others one after the other. */
function sectionOf(entries: readonly RecordedIdentifier[], rich: number): string {
  const detailed = new Set(entries.slice(0, rich));
  const lines: string[] = [];
  for (const key of Object.keys(LABELS) as Label[]) {
    const own = entries.filter(({ label }) => label === key);
    if (own.length === 0) continue;
    const bare = own.filter((entry) => !detailed.has(entry)).map(({ text }) => text);
    lines.push(bare.length === 0 ? LABELS[key] : `${LABELS[key]} ${bare.join(' ')}`);
    lines.push(...own.filter((entry) => detailed.has(entry)).map(richLine));
  }
  return `${RECORD_HEADING}\n${lines.join('\n')}`;
}

function richLine({ about, text, seq }: RecordedIdentifier): string {
  return `- ${about === '' ? '' : `${about} `}${text}${seq === null ? '' : ` [#${seq}]`}`;
}
