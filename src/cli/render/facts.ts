import { shortFactId } from '../../store/fact-id.ts';
import type { FactRow } from '../../store/facts-port.ts';
import { table } from '../output.ts';
import { visibleLine } from './visible.ts';

const TEXT_LIMIT = 120;

/** Facts as a table: id, status, whose, what kind, where from, text. */
export function factLines(facts: readonly FactRow[]): string {
  if (facts.length === 0) return 'Nothing is remembered. Add something with `holdfast memory add TEXT`.\n';
  return table(
    ['ID', 'STATUS', 'FOR', 'KIND', 'FROM', 'TEXT'],
    facts.map((fact) => [
      shortFactId(fact.factId),
      fact.status,
      fact.scope === 'workspace' ? 'workspace' : visibleLine(fact.sessionId ?? '?', 40),
      fact.kind,
      sourceOf(fact),
      visibleLine(fact.text, TEXT_LIMIT),
    ]),
  );
}

/** `user #3`, `fetch_page demo#12`, `command`. */
function sourceOf({ source, sourceSeq, scope, sessionId }: FactRow): string {
  const { origin, tool, by } = source;
  const who = [tool, origin === 'user' && by === 'command' ? by : origin].find((name) => typeof name === 'string');
  const where = sourceSeq === null ? '' : ` ${scope === 'workspace' ? (sessionId ?? '') : ''}#${sourceSeq}`;
  return visibleLine(`${who ?? '?'}${where}`, 40);
}
