import { textTokens } from '../transcript/text-tokens.ts';
import type { ViewPart } from '../transcript/view.ts';
import { assembleSummary } from './assemble.ts';
import { extractiveSummary } from './extractive.ts';
import { identifierRecord, type RecordedIdentifier } from './identifier-record.ts';
import { type ArtifactLedger, type FileEffect, ledgerFrom, ledgerOf } from './ledger.ts';
import type { CompactionSummaryDraft, SummaryMode, SummaryQuality } from './models.ts';
import { firstWords, renderedPrompt, rideMessage, type SummaryAsk } from './prompts.ts';
import { type GateReport, gate, requiredIdentifiers } from './quality.ts';
import { renderGroups } from './render-transcript.ts';
import { cutSections, withoutAppended } from './sections.ts';

/**
 * One question to the summariser. `piece` counts them from 1 and is the same for the same question after a restart, so
 * that an answer which was committed is never paid twice.
 */
export type SummaryRequest =
  /** The agent's own next request, byte for byte, plus one user message. */
  | { readonly mode: 'ride'; readonly piece: number; readonly message: string; readonly maxOutputTokens: number }
  /** A request of its own without tools. */
  | {
      readonly mode: 'rendered';
      readonly piece: number;
      readonly system: string;
      readonly text: string;
      readonly maxOutputTokens: number;
      /** Set where a reasoning model spent its budget before it wrote a word: ask it not to think, where it can be asked. */
      readonly withoutReasoning?: boolean;
    };

export type SummaryAnswer =
  | {
      readonly outcome: 'answered';
      readonly text: string;
      /** Whether it also asked for tools; they are never run. */
      readonly hadCalls: boolean;
      /** Whether the output limit cut it. */
      readonly truncated: boolean;
      /** Whether it thought and wrote nothing. */
      readonly reasoningOnly: boolean;
      /** `provider/model`. */
      readonly model: string;
    }
  /** The provider refused the request for its size; tokens of its window, where it named them. */
  | { readonly outcome: 'overflow'; readonly windowTokens?: number }
  /** It will not answer: another question of the same kind is pointless. */
  | { readonly outcome: 'failed'; readonly message: string };

export type AskSummary = (request: SummaryRequest) => Promise<SummaryAnswer>;

export interface SummariseInput {
  /** What the summary replaces, in order, the earlier summary not among them (`CutPoint.dropped`). */
  readonly dropped: readonly ViewPart[];
  /** The first item that stays word for word. */
  readonly firstKept?: ViewPart;
  /** The earlier summary as the view shows it. */
  readonly previous?: string;
  /** `SummaryPlan.summaryTokens` and `replacedTokens`. */
  readonly limitTokens: number;
  readonly replacedTokens: number;
  /** Whether the agent's next request with one more message may be sent: it fits with its answer, holds no media, same model. */
  readonly ride: boolean;
  /** Tokens that one rendered request may take beside its answer, by the uncorrected estimator. */
  readonly renderedTokens: number;
  /** Most tokens that the summariser may write. */
  readonly outputTokens: number;
  readonly instructions?: string;
  /** Names of the agent's tools. */
  readonly tools?: readonly string[];
  readonly effects?: (tool: string) => FileEffect | undefined;
  readonly ask: AskSummary;
}

/** Share of a summary's limit that the model's own text may take: names, ledger and excerpts have the rest. */
const MODEL_SHARE = 0.6;

/** Questions at most, whatever goes wrong. */
const MAX_ASKS = 12;

/** Pieces that a transcript may be told in; with more of them outputs are cut shorter first. */
const MAX_PIECES = 8;

/** Caps of one output and one text in a rendered transcript, from the gentlest on. */
const CAPS: readonly { readonly outputTokens: number; readonly textTokens: number }[] = [
  { outputTokens: 2000, textTokens: 2000 },
  { outputTokens: 500, textTokens: 1000 },
  { outputTokens: 120, textTokens: 400 },
  { outputTokens: 40, textTokens: 120 },
];

/** A transcript is not split smaller than this, in tokens. */
const MIN_PIECE = 150;

/**
 * Writes one summary: rides on the agent's own request where that may be done, else asks with the transcript as text, in
 * pieces where it is too long, smaller pieces and shorter outputs when the summariser overflows; without a model in the
 * end. Every text passes the gate, with one corrective question, and gets ledger and exact names appended. Always gives a
 * summary within its limit; rejects only when `ask` does. The same answers give the same questions and the same text.
 */
export async function summarise(input: SummariseInput): Promise<CompactionSummaryDraft> {
  const work = new SummaryWork(input);
  const written = (await work.ride()) ?? (await work.rendered());
  return work.draft(written);
}

interface Written {
  readonly text: string;
  readonly mode: SummaryMode;
  readonly model?: string;
  readonly report: GateReport;
}

type Tried =
  | { readonly status: 'good'; readonly written: Written }
  | { readonly status: 'bad' }
  | { readonly status: 'overflow'; readonly windowTokens?: number }
  | { readonly status: 'failed' };

class SummaryWork {
  private readonly input: SummariseInput;
  private readonly ledger: ArtifactLedger;
  private readonly record: readonly RecordedIdentifier[];
  private readonly modelTokens: number;
  private readonly required: readonly string[];
  private readonly problems: string[] = [];
  private asks = 0;
  private reasked = false;

  constructor(input: SummariseInput) {
    this.input = input;
    const { dropped, previous, effects } = input;
    this.ledger = ledgerOf(dropped, {
      previous: ledgerFrom(previous ?? ''),
      ...(effects === undefined ? {} : { effects }),
    });
    this.record = identifierRecord({ dropped, previous, ledger: this.ledger });
    this.modelTokens = Math.max(1, Math.min(Math.floor(input.limitTokens * MODEL_SHARE), input.outputTokens));
    this.required = requiredIdentifiers(this.record, this.modelTokens);
  }

  async ride(): Promise<Written | undefined> {
    const { ride, dropped, firstKept, previous } = this.input;
    if (!ride) return undefined;
    const range = {
      dropped,
      hasPrevious: previous !== undefined,
      ...(firstKept === undefined ? {} : { firstKept: firstWords(firstKept) }),
    };
    const how = { mode: 'ride', mustKeep: this.required, lenient: false } as const;
    const tried = await this.gated(how, (ask, piece, maxOutputTokens) => ({
      mode: 'ride',
      piece,
      message: rideMessage(ask, range),
      maxOutputTokens,
    }));
    return tried.status === 'good' ? tried.written : undefined;
  }

  /** The transcript as text, piece after piece, each merged into the summary of those before. */
  async rendered(): Promise<Written> {
    const { dropped, previous } = this.input;
    let room = Math.max(MIN_PIECE, this.input.renderedTokens);
    let summary = previous === undefined ? undefined : withoutAppended(previous);
    let done = 0;
    let last: Written | undefined;
    while (done < dropped.length && this.asks < MAX_ASKS) {
      const rest = dropped.slice(done);
      const pieces = piecesOf(rest, room - this.overhead(summary));
      const piece = pieces[0];
      if (piece === undefined) break;
      const final = pieces.length === 1;
      const tried = await this.piece(piece.text, summary, final);
      if (tried.status === 'overflow') {
        const smaller = Math.min(room / 2, (tried.windowTokens ?? room) - this.modelTokens);
        if (Math.floor(smaller) < MIN_PIECE || room <= MIN_PIECE) break;
        room = Math.floor(smaller);
        continue;
      }
      if (tried.status !== 'good') break;
      last = tried.written;
      summary = withoutAppended(tried.written.text);
      done += piece.end;
    }
    return done >= dropped.length && last !== undefined ? last : this.extractive(dropped.slice(done), summary);
  }

  draft(written: Written): CompactionSummaryDraft {
    const { limitTokens, replacedTokens, dropped } = this.input;
    const text = cutSections(withoutAppended(written.text), limitTokens);
    const made = assembleSummary({ text, record: this.record, ledger: this.ledger, dropped, limitTokens });
    const quality: SummaryQuality = {
      passed: written.report.problems.length === 0,
      problems: this.problems,
      tokens: textTokens(made.text),
      limitTokens,
      replacedTokens,
      missingHeadings: written.report.missingHeadings,
      identifierRecall: written.report.identifierRecall,
      identifiersRequired: this.required.length,
      identifiersRestored: made.restored,
      reasked: this.reasked,
    };
    const model = written.model === undefined ? {} : { model: written.model };
    return { schemaVersion: 1, text: made.text, mode: written.mode, ...model, quality, calls: this.asks };
  }

  private async piece(transcript: string, previous: string | undefined, final: boolean): Promise<Tried> {
    const how = { mode: 'rendered', mustKeep: final ? this.required : [], lenient: !final } as const;
    return this.gated(how, (ask, piece, maxOutputTokens, withoutReasoning) => ({
      mode: 'rendered',
      piece,
      ...renderedPrompt(ask, { transcript, previous }),
      maxOutputTokens,
      ...(withoutReasoning ? { withoutReasoning } : {}),
    }));
  }

  /** Tokens of a rendered request beside its transcript. */
  private overhead(previous: string | undefined): number {
    const ask = this.askFor(this.required, []);
    const { system, text } = renderedPrompt(ask, { transcript: '', previous });
    return textTokens(system) + textTokens(text) + 20;
  }

  private askFor(mustKeep: readonly string[], problems: readonly string[]): SummaryAsk {
    const { instructions } = this.input;
    const limitTokens = this.modelTokens;
    return { limitTokens, mustKeep, problems, ...(instructions === undefined ? {} : { instructions }) };
  }

  /** Asks, measures, and asks once more with what was wrong; a second fault that can be mended is mended. */
  private async gated(
    {
      mode,
      mustKeep,
      lenient,
    }: { readonly mode: 'ride' | 'rendered'; readonly mustKeep: readonly string[]; readonly lenient: boolean },
    request: (ask: SummaryAsk, piece: number, maxOutputTokens: number, withoutReasoning: boolean) => SummaryRequest,
  ): Promise<Tried> {
    let best: Written | undefined;
    let problems: readonly string[] = [];
    for (let attempt = 0; attempt < 2 && this.asks < MAX_ASKS; attempt += 1) {
      const answer = await this.answered(mode, (piece, limit, bare) =>
        request(this.askFor(mustKeep, problems), piece, limit, bare),
      );
      if (answer.outcome === 'overflow') return best === undefined ? { ...answer, status: 'overflow' } : good(best);
      if (answer.outcome === 'failed') {
        this.problems.push(answer.message);
        return best === undefined ? { status: 'failed' } : good(best);
      }
      const report = this.measure(answer, mustKeep);
      const written = { text: answer.text, mode, model: answer.model, report };
      if (report.problems.length === 0) return good(written);
      this.problems.push(...report.problems);
      if (!report.unusable && (best === undefined || better(report, best.report))) best = written;
      // A piece is merged into the next one: only what the whole summary is measured by is worth another question.
      if (best !== undefined && lenient) return good(best);
      // In a ride an answer of calls means that the agent went on with its work: it will again.
      if (mode === 'ride' && report.unusable) return { status: 'bad' };
      problems = report.problems;
      if (attempt === 0) this.reasked = true;
    }
    return best === undefined ? { status: 'bad' } : good(best);
  }

  /** One answer; a reasoning model that wrote nothing gets twice the room once, then is asked not to think. */
  private async answered(
    mode: 'ride' | 'rendered',
    request: (piece: number, maxOutputTokens: number, withoutReasoning: boolean) => SummaryRequest,
  ): Promise<SummaryAnswer> {
    const { outputTokens } = this.input;
    const first = await this.asked(request(this.asks + 1, outputTokens, false));
    if (!thoughtOnly(first) || mode === 'ride' || this.asks >= MAX_ASKS) return first;
    const wide = await this.asked(request(this.asks + 1, outputTokens * 2, false));
    if (!thoughtOnly(wide) || this.asks >= MAX_ASKS) return wide;
    return this.asked(request(this.asks + 1, outputTokens * 2, true));
  }

  private async asked(request: SummaryRequest): Promise<SummaryAnswer> {
    this.asks += 1;
    return this.input.ask(request);
  }

  private measure(
    { text, hadCalls, truncated }: Extract<SummaryAnswer, { outcome: 'answered' }>,
    required: readonly string[],
  ): GateReport {
    const { replacedTokens, tools } = this.input;
    const own = withoutAppended(text);
    const report = gate({
      text: own,
      limitTokens: this.modelTokens,
      replacedTokens,
      required,
      ...(tools === undefined ? {} : { tools }),
    });
    const more = [
      ...(hadCalls ? ['it asked for a tool'] : []),
      ...(truncated ? ['it was cut by the output limit: be shorter'] : []),
    ];
    return {
      ...report,
      problems: [...more, ...report.problems],
      unusable: report.unusable || hadCalls,
    };
  }

  private extractive(rest: readonly ViewPart[], previous: string | undefined): Written {
    const { limitTokens, replacedTokens } = this.input;
    const most = Math.max(1, Math.floor(limitTokens * MODEL_SHARE));
    const text = extractiveSummary(rest, previous, most);
    const report = gate({ text, limitTokens: most, replacedTokens, required: this.required });
    return { text, mode: 'extractive', report };
  }
}

function good(written: Written): Tried {
  return { status: 'good', written };
}

function better(a: GateReport, b: GateReport): boolean {
  if (a.missingHeadings.length !== b.missingHeadings.length) return a.missingHeadings.length < b.missingHeadings.length;
  return a.identifierRecall > b.identifierRecall;
}

function thoughtOnly(answer: SummaryAnswer): boolean {
  return answer.outcome === 'answered' && answer.reasoningOnly && answer.text.trim() === '';
}

interface Piece {
  /** Parts that it ends before. */
  readonly end: number;
  readonly text: string;
}

/** The transcript in pieces of whole groups that fit into `room`, outputs cut as little as the number of pieces allows. */
function piecesOf(parts: readonly ViewPart[], room: number): readonly Piece[] {
  const limit = Math.max(MIN_PIECE, room);
  let pieces: readonly Piece[] = [];
  for (const caps of CAPS) {
    const bounded = { outputTokens: Math.min(caps.outputTokens, limit), textTokens: Math.min(caps.textTokens, limit) };
    pieces = packed(parts, bounded, limit);
    if (pieces.length <= MAX_PIECES && pieces.every(({ text }) => textTokens(text) <= limit)) break;
  }
  return pieces;
}

function packed(
  parts: readonly ViewPart[],
  caps: { readonly outputTokens: number; readonly textTokens: number },
  limit: number,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let text = '';
  let tokens = 0;
  let end = 0;
  for (const group of renderGroups(parts, caps)) {
    const cost = textTokens(group.text) + 1;
    if (text !== '' && tokens + cost > limit) {
      pieces.push({ end, text });
      text = '';
      tokens = 0;
    }
    text = text === '' ? group.text : `${text}\n${group.text}`;
    tokens += cost;
    end = group.end;
  }
  if (text !== '') pieces.push({ end: parts.length, text });
  return pieces;
}
