import { createHash } from 'node:crypto';
import { caseFolded } from './case-fold.ts';
import type { NewFact } from './facts-port.ts';

/** What tells one fact from another. */
export interface FactKey extends Pick<NewFact, 'scope' | 'kind' | 'text'> {
  /** Counts for facts of a session only. */
  readonly sessionId: string;
}

/** Hexadecimal digits of an id: 128 bits. */
const DIGITS = 32;
/** Digits by which people name a fact. */
const SHORT_DIGITS = 12;

/**
 * The id of a fact: the same for the same scope, session (where scoped to it), kind and normalised text. Space and
 * Unicode forms never tell facts apart; case and a final stop do so only in names, files, commands and URLs.
 */
export function factId(fact: FactKey): string {
  const owner = fact.scope === 'session' ? fact.sessionId : '';
  const key = JSON.stringify([fact.scope, owner, fact.kind, normalised(fact)]);
  return createHash('sha256').update(key).digest('hex').slice(0, DIGITS);
}

/** The beginning of an id, long enough to name its fact. */
export function shortFactId(id: string): string {
  return id.slice(0, SHORT_DIGITS);
}

function normalised({ kind, text }: FactKey): string {
  const exact = text.normalize('NFC').replace(/\s+/gu, ' ').trim();
  return kind === 'memory' ? caseFolded(exact).replace(/[.。!！]+$/u, '') : exact;
}
