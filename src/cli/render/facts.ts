import type { FactRow } from '../../store/facts-port.ts';
import { table } from '../output.ts';
import { visibleLine } from './visible.ts';

const ID_DIGITS = 12;
const TEXT_LIMIT = 120;

/** Facts as a table: id, status, whose, what kind, where from, text. */
export function factLines(facts: readonly FactRow[]): string {
  if (facts.length === 0) return 'Nothing is remembered. Add something with `holdfast memory add TEXT`.\n';
  return table(
    ['ID', 'STATUS', 'FOR', 'KIND', 'FROM', 'TEXT'],
    facts.map((fact) => [
      shortId(fact),
      fact.status,
      fact.scope === 'workspace' ? 'workspace' : visibleLine(fact.sessionId ?? '?', 40),
      fact.kind,
      sourceOf(fact),
      visibleLine(fact.text, TEXT_LIMIT),
    ]),
  );
}

/** The beginning of an id, long enough to name its fact. */
export function shortId({ factId }: Pick<FactRow, 'factId'>): string {
  return factId.slice(0, ID_DIGITS);
}

/** `user #3`, `fetch_page demo#12`, `command`. */
function sourceOf({ source, sourceSeq, scope, sessionId }: FactRow): string {
  const { origin, tool, by } = source;
  const who = [tool, origin === 'user' && by === 'command' ? by : origin].find((name) => typeof name === 'string');
  const where = sourceSeq === null ? '' : ` ${scope === 'workspace' ? (sessionId ?? '') : ''}#${sourceSeq}`;
  return visibleLine(`${who ?? '?'}${where}`, 40);
}
