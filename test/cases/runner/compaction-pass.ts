import { type WindowBudget, windowBudget } from '../../../src/transcript/budget.ts';
import { cutPoint } from '../../../src/transcript/cut-point.ts';
import { itemsTokens, knownItemTokens } from '../../../src/transcript/item-tokens.ts';
import type { AgentItem, TranscriptEntry } from '../../../src/transcript/items.ts';
import { mediaEdits } from '../../../src/transcript/media-edits.ts';
import { microcompact } from '../../../src/transcript/microcompact.ts';
import { shrinkView } from '../../../src/transcript/shrink-view.ts';
import { textTokens } from '../../../src/transcript/text-tokens.ts';
import { estimateRequest } from '../../../src/transcript/token-anchor.ts';
import { buildView, type View, type ViewInput, viewTokens } from '../../../src/transcript/view.ts';
import type { Obj } from './case-file.ts';
import type { BuiltTranscript } from './transcript.ts';

/** What one maintenance pass made of a transcript. */
export interface Pass {
  readonly view: View;
  /** Whether the estimate of the next request asked for one. */
  readonly asked: boolean;
  /** Checkpoints that were made. */
  readonly compactions: number;
  /** Whether the request now fits, or the typed error is due. */
  readonly fits: boolean;
}

/** Checkpoints after which a pass must do without: the design stops after two without progress. */
const MAX_CHECKPOINTS = 2;
const DEFAULT_MAX_BYTES = 30_000_000;
/** Bytes of a body that are no media. */
const BODY_OVERHEAD = 1_000_000;

/**
 * The pure parts of a maintenance pass in the order of the design: estimate, media and old results, cut point, then
 * cutting inside what stays. The summary stands for what a faithful model would have answered.
 */
export function maintenancePass(transcript: BuiltTranscript, input: Obj): Pass {
  const budget = budgetOf(input);
  const entries = entriesOf(transcript.items);
  const first: ViewInput = { entries, budget };
  const baseTokens = textTokens(transcript.systemTexts.join('\n\n'), 'fitted');
  const view = buildView(first);
  const maxBytes =
    (typeof input.max_body_bytes === 'number' ? input.max_body_bytes : DEFAULT_MAX_BYTES) - BODY_OVERHEAD;
  const media = mediaEdits(view, { maxBytes });
  const asked = estimate(transcript, view, baseTokens) > budget.softThreshold || media.length > 0;
  if (!asked) return { view, asked, compactions: 0, fits: true };
  const target = budget.hardThreshold - baseTokens;
  const mended = buildView({
    ...first,
    edits: [...media, ...microcompact(buildView({ ...first, edits: media })).edits],
  });
  if (viewTokens(mended) <= target) return { view: mended, asked, compactions: 0, fits: true };
  return compacted(mended, budget, target);
}

function compacted(start: View, budget: WindowBudget, target: number): Pass {
  let view = start;
  let compactions = 0;
  while (compactions < MAX_CHECKPOINTS && viewTokens(view) > target) {
    const cut = cutPoint(view, { keepRecent: budget.keepRecent, openRunId: 'open' });
    if (cut === undefined) break;
    compactions += 1;
    const { firstKeptSeq, protectedSeqs } = cut;
    const checkpoint = {
      compactionId: `c${compactions}`,
      summary: 'Earlier work, summarised.',
      firstKeptSeq,
      protectedSeqs,
    };
    view = buildView({ ...view.input, checkpoint });
  }
  const shrunk = shrinkView(view, { target, outputCap: budget.toolOutputCap });
  return { view: shrunk.view, asked: true, compactions, fits: shrunk.fits };
}

/** Reported usage of the last answer and an estimate of what came since, or an estimate of everything. */
function estimate(transcript: BuiltTranscript, view: View, baseTokens: number): number {
  const { reported } = transcript;
  const bound = { viewRevision: view.revision, provider: 'p', model: 'm', promptHash: 'h' };
  const itemTokens = view.items.map((item) => knownItemTokens(item));
  const covered = view.items.slice(0, reported?.coveredItems ?? 0);
  const anchor = reported && {
    ...bound,
    ...reported,
    reportedTokens: reported.tokens,
    estimatedTokens: baseTokens + itemsTokens(covered),
  };
  return estimateRequest({ ...bound, baseTokens, itemTokens, ...(anchor === undefined ? {} : { anchor }) }).tokens;
}

function budgetOf(input: Obj): WindowBudget {
  const window = Number(input.window ?? 128_000);
  const config = {
    ...(typeof input.trigger === 'number' ? { triggerRatio: input.trigger / window } : {}),
    ...(typeof input.keep_recent_tokens === 'number' ? { keepRecentTokens: input.keep_recent_tokens } : {}),
  };
  return windowBudget({
    window,
    config,
    ...(typeof input.reserve_output === 'number' ? { maxOutputTokens: input.reserve_output } : {}),
  });
}

/** Entries of a session whose last user message is not answered yet. */
function entriesOf(items: readonly AgentItem[]): TranscriptEntry[] {
  const last = items.findLastIndex((item) => item.kind === 'user_message');
  return items.map((item, at) => ({ seq: at + 1, runId: at >= last ? 'open' : 'earlier', step: 0, item }));
}

/** A transcript of screenshots, where the case only counts them. */
export function screenshots(input: Obj): unknown[] | undefined {
  if (typeof input.transcript_images !== 'number') return undefined;
  const image = { mediaType: 'image/png', base64_bytes: Math.ceil((Number(input.bytes_each) * 4) / 3) };
  return Array.from({ length: input.transcript_images }, (_, i) => [
    { user: [{ text: `Screen ${i + 1}` }, { image }] },
    { assistant: `Seen ${i + 1}.` },
  ])
    .flat()
    .concat([{ user: [{ text: 'What changed?' }] }] as never);
}
