import type { AgentItem } from './items.ts';
import { responseOf, runEnd } from './response-runs.ts';

/** How tools that the provider ran tie responses together. Indexes are positions in the list that was looked at. */
export interface BuiltinLinks {
  /** First and last item of each span of responses that one group must hold. */
  readonly spans: readonly { readonly start: number; readonly last: number }[];
  /** Builtin results whose call is not in their group. */
  readonly orphans: ReadonlySet<number>;
  /** Builtin calls under an id that was used before; they count for nothing. An empty id is no id and may recur. */
  readonly repeats: ReadonlySet<number>;
  /** Items inside such a span that are no part of it, and the last part of the span. */
  readonly strays: readonly { readonly index: number; readonly after: number }[];
}

const NO_LINKS: BuiltinLinks = { spans: [], orphans: new Set(), repeats: new Set(), strays: [] };

/** The span being built. `paused`: the next response, if it follows at once, continues it. */
interface Span {
  readonly start: number;
  last: number;
  paused: boolean;
  readonly open: Set<string>;
  readonly strays: number[];
}

/**
 * Finds the spans closed under builtin ids, and the continuations after a pause.
 *
 * A provider's own call may get its result in the next response; that response then belongs to the same span, and what
 * stands between is a stray. A response that follows at once on one in which the provider ran a tool, and which asked
 * for no tool of ours, continues it after a `pause` (the runtime allows five). Linear.
 */
export function builtinLinks(items: readonly AgentItem[]): BuiltinLinks {
  // The common case: nothing ties responses together.
  if (!items.some((item) => item.kind === 'builtin_tool_event')) return NO_LINKS;
  const spans: { start: number; last: number }[] = [];
  const orphans = new Set<number>();
  const repeats = repeatedCalls(items);
  const strays: { index: number; after: number }[] = [];
  let span: Span | undefined;
  let between: number[] = [];

  const close = (): void => {
    if (span === undefined) return;
    spans.push({ start: span.start, last: span.last });
    for (const index of span.strays) strays.push({ index, after: span.last });
  };

  for (let start = 0; start < items.length; ) {
    const end = runEnd(items, start);
    const item = items[start];
    if (item !== undefined && responseOf(item) !== undefined) {
      if (span !== undefined && answers(items, start, end, span.open, repeats)) span.strays.push(...between);
      else if (!(span?.paused === true && span.last === start - 1)) {
        close();
        span = { start, last: start, paused: false, open: new Set(), strays: [] };
      }
      between = [];
      takeRun(items, start, end, span, { orphans, repeats });
    } else if (item !== undefined && item.kind !== 'tool_result_batch') between.push(start);
    start = end;
  }
  close();
  return { spans, orphans, repeats, strays };
}

function repeatedCalls(items: readonly AgentItem[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const repeats = new Set<number>();
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'builtin_tool_event' || item.phase !== 'call' || item.nativeId === '') continue;
    if (seen.has(item.nativeId)) repeats.add(index);
    seen.add(item.nativeId);
  }
  return repeats;
}

/** Whether the run holds the result of a call that is open before it (and not made anew within it). */
function answers(
  items: readonly AgentItem[],
  start: number,
  end: number,
  open: ReadonlySet<string>,
  repeats: ReadonlySet<number>,
): boolean {
  if (open.size === 0) return false;
  const own = new Set<string>();
  for (let index = start; index < end; index += 1) {
    const item = items[index];
    if (item?.kind !== 'builtin_tool_event' || repeats.has(index)) continue;
    if (item.phase === 'call') own.add(item.nativeId);
    else if (open.has(item.nativeId) && !own.has(item.nativeId)) return true;
  }
  return false;
}

function takeRun(
  items: readonly AgentItem[],
  start: number,
  end: number,
  span: Span,
  { orphans, repeats }: { readonly orphans: Set<number>; readonly repeats: ReadonlySet<number> },
): void {
  let builtin = false;
  let batch = false;
  for (let index = start; index < end; index += 1) {
    const item = items[index];
    if (item?.kind === 'tool_call_batch') batch = true;
    if (item?.kind !== 'builtin_tool_event' || repeats.has(index)) continue;
    if (item.phase === 'call') span.open.add(item.nativeId);
    else if (!span.open.delete(item.nativeId)) {
      orphans.add(index);
      continue;
    }
    builtin = true;
  }
  span.last = end - 1;
  span.paused = builtin && !batch;
}
