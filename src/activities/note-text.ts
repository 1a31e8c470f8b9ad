import { wellFormed } from '../transcript/well-formed.ts';

/** Characters of a note that are kept: it stands in events and in front of the model. */
const MAX_NOTE = 2000;

/** What somebody wrote beside a decision, fit to be stored; empty when nothing. */
export function noteText(note = ''): string {
  return wellFormed(note.slice(0, MAX_NOTE)).replaceAll('\0', '').trim();
}
