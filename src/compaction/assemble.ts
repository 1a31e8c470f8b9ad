import { textTokens } from '../transcript/text-tokens.ts';
import type { ViewPart } from '../transcript/view.ts';
import { renderExcerpts } from './excerpts.ts';
import { bareTokens, type RecordedIdentifier, restoreIdentifiers } from './identifier-record.ts';
import { type ArtifactLedger, renderLedger } from './ledger.ts';
import { cutSections, withAllHeadings } from './sections.ts';

/** Share of a summary's limit that the model's own text keeps, however many names want a place. */
const LEAST_TEXT = 0.25;

/** Share of the limit that the ledger may take. */
const LEDGER_SHARE = 0.2;

/** Excerpts fill a summary up to this share of its limit, so that its size is even from the first to the last. */
const FILLED = 0.75;

export interface AssembleInput {
  /** The model's own text, or the extractive one. */
  readonly text: string;
  readonly record: readonly RecordedIdentifier[];
  readonly ledger: ArtifactLedger;
  readonly dropped: readonly ViewPart[];
  readonly limitTokens: number;
}

export interface Assembled {
  readonly text: string;
  readonly restored: number;
}

/**
 * The summary as the view will show it: text with all headings, ledger, exact names that the text left out, excerpts.
 * Never over `limitTokens`; names come before ledger and excerpts, and take room from the text where they need it.
 */
export function assembleSummary({ text, record, ledger, dropped, limitTokens }: AssembleInput): Assembled {
  const whole = withAllHeadings(text);
  const wanted = bareTokens(whole, record) + 4;
  const own = cutSections(whole, Math.max(Math.floor(limitTokens * LEAST_TEXT), limitTokens - wanted));
  const names = bareTokens(own, record) + 4;
  const spare = limitTokens - textTokens(own) - names;
  const files = renderLedger(ledger, Math.min(spare, Math.floor(limitTokens * LEDGER_SHARE)));
  const withFiles = appended(own, files);
  const { section, count } = restoreIdentifiers(withFiles, record, limitTokens);
  const withNames = appended(withFiles, section);
  const room = Math.floor(limitTokens * FILLED) - textTokens(withNames) - 4;
  const full = room > 0 ? appended(withNames, renderExcerpts(dropped, room)) : withNames;
  return { text: textTokens(full) <= limitTokens ? full : withNames, restored: count };
}

function appended(text: string, section: string): string {
  return section === '' ? text : `${text}\n\n${section}`;
}
