import { DEFAULT_COMPACTION_CONFIG } from '../../src/compaction/config.ts';
import { SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import { identifiersOf } from '../../src/compaction/identifiers.ts';
import { planCut } from '../../src/compaction/plan-cut.ts';
import { compactionNeed } from '../../src/compaction/policy.ts';
import { type SummaryAnswer, type SummaryRequest, summarise } from '../../src/compaction/summarise.ts';
import { windowBudget } from '../../src/transcript/budget.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { textTokens } from '../../src/transcript/text-tokens.ts';
import { buildView, type View, viewTokens } from '../../src/transcript/view.ts';
import type { ViewEdit } from '../../src/transcript/view-edits.ts';
import { assistant, call, calls, result, results, user } from '../transcript/arbitraries.ts';

const WORDS =
  'the server answered with a plain list of words that nobody needs and the tool went on to tell more about nothing in particular while the day passed'.split(
    ' ',
  );

export function rng(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function fact(n: number): string {
  const forms = [`src/m${n}/f-${n}.ts`, `INV-${4000 + n * 7}`, `${100000 + n * 7919}`, `${8000 + n}-K`];
  return forms[n % 4] ?? '';
}

type Writer = (known: string) => string;

function summaryWith(names: readonly string[]): string {
  return SUMMARY_HEADINGS.map(
    ({ title }) => `## ${title}\n${title === 'Exact identifiers' ? names.join(' ') : 'None.'}`,
  ).join('\n');
}

export const faithful: Writer = (known) => summaryWith(identifiersOf(known).map(({ text }) => text));
export const forgetful =
  (random: () => number): Writer =>
  (known) =>
    summaryWith(
      identifiersOf(known)
        .map(({ text }) => text)
        .filter(() => random() < 0.5),
    );
export const silent: Writer = () => '';

export async function endlessSession(writer: Writer, steps: number) {
  const window = windowBudget({ window: 8000, maxOutputTokens: 500 });
  const random = rng(7);
  const entries: TranscriptEntry[] = [];
  let edits: ViewEdit[] = [];
  let checkpoint:
    | { compactionId: string; summary: string; firstKeptSeq: number; protectedSeqs: readonly number[] }
    | undefined;
  let seq = 0;
  const add = (item: AgentItem, step: number): void => {
    seq += 1;
    entries.push({ seq, runId: 'run', step, item });
  };
  const planted: string[] = [];
  const sizes: number[] = [];
  let worst = 1;
  let asks = 0;
  let edited = 0;
  let repairs = 0;
  let largest = 0;
  const base = 450;
  add(user('Go through all the modules and tell me what is wrong with them.'), 0);
  const current = (): View =>
    buildView({
      entries: entries.filter(
        (e) => checkpoint === undefined || e.seq >= checkpoint.firstKeptSeq || checkpoint.protectedSeqs.includes(e.seq),
      ),
      edits,
      budget: window,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    });
  for (let step = 1; step <= steps; step += 1) {
    let view = current();
    let tokens = base + viewTokens(view);
    let idle = 0;
    for (let round = 0; round < 3; round += 1) {
      const need = compactionNeed({
        policy: DEFAULT_COMPACTION_CONFIG,
        tokens,
        window,
        firstCall: step === 1,
        idleCompactions: idle,
      });
      if (need === undefined) break;
      const plan = planCut({
        view,
        window,
        systemTokens: 200,
        toolsTokens: 250,
        tokens,
        trigger: need.trigger,
        openRunId: 'run',
        config: DEFAULT_COMPACTION_CONFIG,
      });
      if (plan.kind === 'edits') {
        edits = [...edits, ...plan.edits];
        edited += 1;
      } else if (plan.kind === 'cut') {
        edits = [...edits, ...plan.edits];
        const previous = checkpoint?.summary;
        const ask = async (request: SummaryRequest): Promise<SummaryAnswer> => {
          asks += 1;
          const known = request.mode === 'ride' ? view.items.map((i) => JSON.stringify(i)).join('\n') : request.text;
          return {
            outcome: 'answered',
            text: writer(known),
            hadCalls: false,
            truncated: false,
            reasoningOnly: false,
            model: 'm/m',
          };
        };
        const draft = await summarise({
          dropped: plan.cut.dropped,
          ...(previous === undefined ? {} : { previous }),
          limitTokens: plan.summaryTokens,
          replacedTokens: plan.replacedTokens,
          ride: false,
          renderedTokens: 5000,
          outputTokens: 500,
          ask,
        });
        sizes.push(textTokens(draft.text));
        checkpoint = {
          compactionId: `c${sizes.length}`,
          summary: draft.text,
          firstKeptSeq: plan.cut.firstKeptSeq,
          protectedSeqs: plan.cut.protectedSeqs,
        };
      } else throw new Error(plan.kind);
      view = current();
      const after = base + viewTokens(view);
      idle = after > tokens * 0.9 ? idle + 1 : 0;
      tokens = after;
    }
    largest = Math.max(largest, tokens);
    if (view.repairs.length > 0) repairs += view.repairs.length;
    if (step % 25 === 0) {
      const body = view.items.map((item) => JSON.stringify(item)).join('\n');
      const recall = planted.filter((name) => body.includes(name)).length / planted.length;
      worst = Math.min(worst, recall);
    }
    // Two facts in five steps.
    const n = Math.floor(step * 0.4) > Math.floor((step - 1) * 0.4) ? Math.floor(step * 0.4) : undefined;
    const inOutput = n !== undefined && n % 2 === 0;
    if (n !== undefined) planted.push(fact(n));
    if (n !== undefined && !inOutput) add(assistant(`r${step}`, `I found ${fact(n)} in the list.`), step);
    add(
      calls(
        n !== undefined && !inOutput ? `r${step}` : `r${step}`,
        call(`c${step}`, { name: 'look', arguments: { item: `part` } }),
      ),
      step,
    );
    let text = '';
    while (text.length < 2000) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
    if (inOutput) text = `${text.slice(0, 900)} the record names ${fact(n)} here ${text.slice(900)}`;
    add(results(result(`c${step}`, text)), step);
  }
  return { worst, sizes, asks, edited, largest, repairs, budget: window.budget, planted: planted.length };
}
