import { DEFAULT_COMPACTION_CONFIG } from '../../src/compaction/config.ts';
import { SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import { identifiersOf } from '../../src/compaction/identifiers.ts';
import { planCut } from '../../src/compaction/plan-cut.ts';
import { compactionNeed, reclaimed } from '../../src/compaction/policy.ts';
import { type SummaryAnswer, type SummaryRequest, summarise } from '../../src/compaction/summarise.ts';
import { windowBudget } from '../../src/transcript/budget.ts';
import type { CompactionTrigger } from '../../src/transcript/events.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { textTokens } from '../../src/transcript/text-tokens.ts';
import { buildView, type View, type ViewCheckpoint, viewTokens } from '../../src/transcript/view.ts';
import type { ViewEdit } from '../../src/transcript/view-edits.ts';
import { pick, seededRandom } from '../fakes/random.ts';
import { assistant, call, calls, result, results, user } from '../transcript/arbitraries.ts';

const WORDS = `the server answered with a plain list of words that nobody needs and the tool went on to tell more about
nothing in particular while the day passed`.split(/\s/);

function fact(n: number): string {
  const forms = [`src/m${n}/f-${n}.ts`, `INV-${4000 + n * 7}`, `${100000 + n * 7919}`, `${8000 + n}-K`];
  return forms[n % 4] ?? '';
}

/** A summariser: its answer from what it was shown. */
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

/** What a session went through. */
export interface Endured {
  /** Lowest share of the facts so far that stood in a request. */
  readonly recall: number;
  readonly planted: number;
  /** Tokens of each summary. */
  readonly summaries: readonly number[];
  /** Tokens of the largest request, and of what fits. */
  readonly largest: number;
  readonly budget: number;
  /** Mends that views needed: none, where nothing was torn apart. */
  readonly repairs: number;
}

/** One run of an agent with a small window, each step with 2 KB of output, and two facts in five steps. */
export async function endlessSession(writer: Writer, steps: number): Promise<Endured> {
  const session = new Session(writer);
  for (let step = 1; step <= steps; step += 1) {
    await session.compactWhereNeeded(step === 1);
    session.measure(step % 25 === 0);
    session.work(step);
  }
  return session.endured();
}

const SYSTEM = 200;
const TOOLS = 250;
const RUN = 'run';

class Session {
  private readonly writer: Writer;
  private readonly window = windowBudget({ window: 8000, maxOutputTokens: 500 });
  private readonly random = seededRandom(7);
  private readonly entries: TranscriptEntry[] = [];
  private readonly edits: ViewEdit[] = [];
  private readonly planted: string[] = [];
  private readonly summaries: number[] = [];
  private checkpoint: ViewCheckpoint | undefined;
  private view: View;
  private recall = 1;
  private largest = 0;
  private repairs = 0;

  constructor(writer: Writer) {
    this.writer = writer;
    this.add(0, user('Go through all the modules and tell me what is wrong with them.'));
    this.view = this.current();
  }

  async compactWhereNeeded(firstCall: boolean): Promise<void> {
    this.view = this.current();
    for (let idleCompactions = 0; ; ) {
      const { window } = this;
      const tokens = this.tokens();
      const need = compactionNeed({ policy: DEFAULT_COMPACTION_CONFIG, tokens, window, firstCall, idleCompactions });
      if (need === undefined) return;
      await this.compact(tokens, need.trigger);
      this.view = this.current();
      if (!reclaimed(tokens, this.tokens())) idleCompactions += 1;
    }
  }

  private async compact(tokens: number, trigger: CompactionTrigger): Promise<void> {
    const { view, window } = this;
    const plan = planCut({
      view,
      window,
      systemTokens: SYSTEM,
      toolsTokens: TOOLS,
      tokens,
      trigger,
      openRunId: RUN,
      config: DEFAULT_COMPACTION_CONFIG,
    });
    if (plan.kind !== 'edits' && plan.kind !== 'cut') throw new Error(plan.kind);
    this.edits.push(...plan.edits);
    if (plan.kind === 'edits') return;
    const { dropped, firstKeptSeq, protectedSeqs } = plan.cut;
    const { text } = await summarise({
      dropped,
      ...(this.checkpoint === undefined ? {} : { previous: this.checkpoint.summary }),
      limitTokens: plan.summaryTokens,
      replacedTokens: plan.replacedTokens,
      ride: false,
      renderedTokens: 5000,
      outputTokens: 500,
      ask: async (request) => this.answer(request),
    });
    this.summaries.push(textTokens(text));
    this.checkpoint = { compactionId: `k${this.summaries.length}`, summary: text, firstKeptSeq, protectedSeqs };
  }

  private answer(request: SummaryRequest): SummaryAnswer {
    const text = this.writer(request.mode === 'ride' ? request.message : request.text);
    return { outcome: 'answered', text, hadCalls: false, truncated: false, reasoningOnly: false, model: 'test/model' };
  }

  measure(recall: boolean): void {
    this.largest = Math.max(this.largest, this.tokens());
    this.repairs += this.view.repairs.length;
    if (!recall) return;
    const body = JSON.stringify(this.view.items);
    const held = this.planted.filter((name) => body.includes(name)).length;
    this.recall = Math.min(this.recall, held / this.planted.length);
  }

  /** One step; every second fact stands in its output only. */
  work(step: number): void {
    const n = Math.floor(step * 0.4);
    const name = n > Math.floor((step - 1) * 0.4) ? fact(n) : undefined;
    const said = name !== undefined && n % 2 === 1;
    if (name !== undefined) this.planted.push(name);
    if (said) this.add(step, assistant(`r${step}`, `I found ${name} in the list.`));
    this.add(step, calls(`r${step}`, call(`c${step}`, { name: 'look', arguments: { item: 'part' } })));
    const output =
      this.filler(900) + (name === undefined || said ? '' : `the record names ${name} here `) + this.filler(1100);
    this.add(step, results(result(`c${step}`, output)));
  }

  endured(): Endured {
    const { recall, planted, summaries, largest, repairs } = this;
    return { recall, planted: planted.length, summaries, largest, budget: this.window.budget, repairs };
  }

  private filler(length: number): string {
    let text = '';
    while (text.length < length) text += `${pick(this.random, WORDS)} `;
    return text;
  }

  private add(step: number, item: AgentItem): void {
    this.entries.push({ seq: this.entries.length + 1, runId: RUN, step, item });
  }

  private tokens(): number {
    return SYSTEM + TOOLS + viewTokens(this.view);
  }

  private current(): View {
    const { entries, edits, checkpoint, window } = this;
    const shown =
      checkpoint === undefined
        ? entries
        : entries.filter(({ seq }) => seq >= checkpoint.firstKeptSeq || checkpoint.protectedSeqs.includes(seq));
    return buildView({
      entries: shown,
      edits: [...edits],
      budget: window,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    });
  }
}
