import { type ShownCompaction, TRIGGERS } from './compaction.ts';
import { count, price } from './quantities.ts';
import { visibleLine } from './visible.ts';

/** Outcomes that changed the view. */
const CHANGED: ReadonlySet<ShownCompaction['outcome']> = new Set(['compacted', 'edited']);

/** Compactions for people: a heading each, and under it what was cut, what wrote the summary, what the gate said. */
export function compactionLines(rows: readonly ShownCompaction[]): string {
  if (rows.length === 0) return 'This session was never compacted.\n';
  return rows.map(compactionText).join('');
}

function compactionText(row: ShownCompaction): string {
  const { at, trigger, outcome, tokensBefore, tokensAfter, compactionId } = row;
  const heading = [
    at.slice(0, 19).replace('T', ' '),
    TRIGGERS[trigger] ?? visibleLine(trigger, 40),
    outcome,
    CHANGED.has(outcome) ? `${count(tokensBefore)} → ${count(tokensAfter)} tokens` : `${count(tokensBefore)} tokens`,
    visibleLine(compactionId, 40),
  ].join(' · ');
  const details = [...cutLine(row), ...summaryLine(row), ...gateLines(row), ...failureLine(row)];
  return `${heading}\n${details.map((line) => `    ${line}\n`).join('')}`;
}

function cutLine({ cut, edits = 0 }: ShownCompaction): readonly string[] {
  const shortened = edits === 0 ? [] : [`${edits} ${edits === 1 ? 'item' : 'items'} shortened`];
  if (cut === undefined) return shortened;
  const { fromSeq, toSeq, droppedItems, droppedTokens, protectedSeqs } = cut;
  const beside =
    protectedSeqs.length === 0 ? [] : [`kept beside it: ${protectedSeqs.map((seq) => `#${seq}`).join(' ')}`];
  const replaced = `replaced #${fromSeq} to #${toSeq}: ${droppedItems} items, ${count(droppedTokens)} tokens`;
  return [[replaced, ...beside, ...shortened].join(' · ')];
}

function summaryLine({ mode, model, calls, spentUsd, ...used }: ShownCompaction): readonly string[] {
  if (mode === undefined && calls === 0) return [];
  const cached = used.cachedTokens === 0 ? '' : ` (${count(used.cachedTokens)} cached)`;
  const spent = spentUsd === null ? 'price unknown' : price(spentUsd);
  return [
    [
      `summary: ${mode ?? 'none'}`,
      ...(model === undefined ? [] : [visibleLine(model, 60)]),
      `${calls} ${calls === 1 ? 'call' : 'calls'}`,
      ...(calls === 0 ? [] : [`${count(used.inputTokens)} tokens in${cached}, ${count(used.outputTokens)} out`, spent]),
    ].join(' · '),
  ];
}

function gateLines({ quality }: ShownCompaction): readonly string[] {
  if (quality === undefined) return [];
  const { identifierRecall, identifiersRequired, identifiersRestored, missingHeadings, problems } = quality;
  const scores = [
    `gate: ${quality.passed ? 'passed' : 'not passed'}`,
    `${count(quality.tokens)} of ${count(quality.limitTokens)} tokens`,
    `recall ${identifierRecall.toFixed(2)} of ${identifiersRequired} names, ${identifiersRestored} put back`,
    ...(missingHeadings.length === 0 ? [] : [`missing: ${visibleLine(missingHeadings.join(', '), 120)}`]),
    ...(quality.reasked ? ['asked again'] : []),
  ];
  return [scores.join(' · '), ...problems.map((problem) => `first answer: ${visibleLine(problem, 160)}`)];
}

function failureLine({ error, message }: ShownCompaction): readonly string[] {
  if (error === undefined && message === undefined) return [];
  return [visibleLine([error, message].filter((part) => part !== undefined).join(': '), 200)];
}
