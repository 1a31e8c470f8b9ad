import { calledTools } from './called-tools.ts';
import { compacted, decideStrategy, PRUNED_THINKING } from './compact-action.ts';
import { knownItemTokens } from './item-tokens.ts';
import type { AgentItem, ContentBlock, ToolResult } from './items.ts';
import { keywords, looksLikeError, type ResultSemantic, refersTo, resultScore } from './microcompact-score.ts';
import { responseOf, runEnd } from './response-runs.ts';
import { contentTokens, itemTokens } from './tokens.ts';
import { buildView, type View, type ViewPart, viewTokens } from './view.ts';
import type { ViewEdit } from './view-edits.ts';

export interface MicrocompactOptions {
  /** What the tool of a name declared; default `mixed`. */
  readonly semanticOf?: (tool: string) => ResultSemantic;
  /** Messages at the end that stay as they are; default 10. */
  readonly keepRecentMessages?: number;
  /** Also shorten reasoning; default false. */
  readonly compactThinking?: boolean;
}

export const KEEP_RECENT_MESSAGES = 10;

export interface Microcompacted {
  /** All at once: each edit of the past costs the provider's cache once. */
  readonly edits: readonly ViewEdit[];
  readonly tokensFreed: number;
}

/**
 * Shortens old tool results by size and worth, without a model. Calls and call ids stay, errors stay, what is recent
 * stays. Running it again at once finds nothing.
 */
export function microcompact(view: View, options: MicrocompactOptions = {}): Microcompacted {
  const end = oldEnd(view.items, options.keepRecentMessages ?? KEEP_RECENT_MESSAGES);
  const steps = stepsOf(view.items);
  const texts = textsByStep(view.items, steps);
  const names = calledTools(view.items);
  const edits: ViewEdit[] = [];
  for (const [at, part] of view.parts.slice(0, end).entries()) {
    if (part.seq === null || part.item.kind !== 'tool_result_batch') continue;
    for (const result of part.item.results) {
      const semantic = options.semanticOf?.(names.get(result.callId) ?? '') ?? 'mixed';
      const edit = resultEdit(part.seq, result, { semantic, step: steps[at] ?? 0, texts });
      if (edit !== undefined) edits.push(edit);
    }
  }
  if (options.compactThinking === true) edits.push(...thinkingEdits(view, end));
  if (edits.length === 0) return { edits, tokensFreed: 0 };
  const after = buildView({ ...view.input, edits: [...(view.input.edits ?? []), ...edits] });
  return { edits, tokensFreed: viewTokens(view) - viewTokens(after) };
}

interface Place {
  readonly semantic: ResultSemantic;
  readonly step: number;
  readonly texts: readonly ReadonlySet<string>[];
}

function resultEdit(seq: number, result: ToolResult, place: Place): ViewEdit | undefined {
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (result.status !== 'ok' || text.length <= 200 || looksLikeError(text)) return undefined;
  const stepsSinceReferenced = place.texts.length - 1 - lastReference(text, place);
  const score = resultScore({ semantic: place.semantic, text, stepsSinceReferenced });
  const action = decideStrategy(text.length, score);
  const shortened = compacted(text, action);
  if (shortened === text) return undefined;
  const rest = action.type === 'replace' ? [] : result.content.filter((block) => block.type !== 'text');
  const content: readonly ContentBlock[] = [{ type: 'text', text: shortened }, ...rest];
  const tokensBefore = contentTokens(result.content);
  const tokensAfter = contentTokens(content);
  // A text just over a limit can take more tokens with the note of its cut than without.
  if (tokensAfter >= tokensBefore) return undefined;
  return {
    schemaVersion: 1,
    seq,
    callId: result.callId,
    action: { type: 'set_content', content },
    reason: 'microcompact',
    tokensBefore,
    tokensAfter,
  };
}

/** The last step whose text refers to the result; its own step when none does. */
function lastReference(text: string, { step, texts }: Place): number {
  const words = keywords(text);
  for (let later = texts.length - 1; later > step; later -= 1) {
    const said = texts[later];
    if (said !== undefined && refersTo(words, said)) return later;
  }
  return step;
}

/** End of the items that are older than the last `keep` messages; the items of one response are one message. */
function oldEnd(items: readonly AgentItem[], keep: number): number {
  const starts: number[] = [];
  for (let at = 0; at < items.length; at = runEnd(items, at)) starts.push(at);
  return keep <= 0 ? items.length : (starts.at(-keep) ?? 0);
}

/** For each item the number of responses up to it: 0 before the first. */
function stepsOf(items: readonly AgentItem[]): readonly number[] {
  let step = 0;
  let last: string | undefined;
  return items.map((item) => {
    const id = responseOf(item)?.id;
    if (id !== undefined && id !== last) step += 1;
    last = id;
    return step;
  });
}

/** Keywords of what the model said in each step. */
function textsByStep(items: readonly AgentItem[], steps: readonly number[]): readonly ReadonlySet<string>[] {
  const texts: string[] = Array.from({ length: (steps.at(-1) ?? 0) + 1 }, () => '');
  for (const [at, item] of items.entries()) {
    if (item.kind !== 'assistant_message') continue;
    const said = item.content.map((block) => (block.type === 'extension' ? '' : block.text)).join(' ');
    texts[steps[at] ?? 0] += ` ${said}`;
  }
  return texts.map((text) => keywords(text, Number.POSITIVE_INFINITY));
}

/** Unsigned reasoning becomes a note; signed reasoning goes with its replay. The open tool turn keeps all of it. */
function thinkingEdits(view: View, end: number): readonly ViewEdit[] {
  return view.parts.slice(0, Math.min(end, openTurnStart(view.items))).flatMap((part) => thinkingEdit(part) ?? []);
}

function thinkingEdit(part: ViewPart): ViewEdit | undefined {
  if (part.seq === null || part.item.kind !== 'reasoning_summary') return undefined;
  const { replay, text, response } = part.item;
  if (replay === undefined && text.length <= PRUNED_THINKING.length) return undefined;
  return {
    schemaVersion: 1,
    seq: part.seq,
    action:
      replay === undefined
        ? { type: 'set_text', text: PRUNED_THINKING }
        : { type: 'remove_reasoning', responseId: response.id },
    reason: 'microcompact',
    tokensBefore: knownItemTokens(part.item),
    tokensAfter: replay === undefined ? itemTokens({ ...part.item, text: PRUNED_THINKING }) : 0,
  };
}

/** Position of the message that the current turn answers: reasoning from there on may be asked back. */
export function openTurnStart(items: readonly AgentItem[]): number {
  const last = items.findLastIndex((item) => item.kind === 'user_message' && item.origin === 'user');
  return Math.max(0, last);
}
