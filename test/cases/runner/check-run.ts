import { isDeepStrictEqual } from 'node:util';
import { isObj, objs } from './case-file.ts';
import type { Check, CheckTable } from './check.ts';
import { differs, show } from './compare.ts';
import type { Observation } from './observation.ts';

/** Model calls within which a run that goes in circles must end by its own guard. */
const BOUND = 12;

const must = (holds: boolean, seen: unknown): string | undefined => (holds ? undefined : `seen ${show(seen)}`);

/** A number that may not pass a bound; unseen is a problem. */
const bound =
  (read: (seen: Observation) => number | undefined, holds: (seen: number, want: number) => boolean): Check =>
  (want, seen) => {
    const value = read(seen);
    if (value === undefined) return 'was not observed';
    return holds(value, Number(want)) ? undefined : `expected ${show(want)}, seen ${value}`;
  };

const below = (seen: number, want: number) => seen < want;
const atMost = (seen: number, want: number) => seen <= want;
const atLeast = (seen: number, want: number) => seen >= want;
const equal = (seen: number, want: number) => seen === want;

/** Keys about a run: what was executed, what came of it, how often the model was asked. */
export const RUN_CHECKS: CheckTable = {
  executed: (want, seen) => {
    if (seen.executed === undefined) return 'was not observed';
    const wanted = objs(want);
    const same =
      wanted.length === seen.executed.length &&
      wanted.every((call, i) => {
        const other = seen.executed?.[i];
        return call.name === other?.name && (call.args === undefined || isDeepStrictEqual(call.args, other?.args));
      });
    return must(same, seen.executed);
  },
  executed_count: bound((seen) => seen.executed?.length, equal),
  executed_args: (want, seen, all) => {
    if (seen.executed === undefined) return 'was not observed';
    const ignored = Array.isArray(all.executed_args_ignore) ? all.executed_args_ignore.map(String) : [];
    const wanted = Array.isArray(want) ? want : [want];
    const args = seen.executed.map((call) => (isObj(call.args) ? without(call.args, ignored) : call.args));
    return must(
      isDeepStrictEqual(
        args,
        wanted.map((each) => (isObj(each) ? without(each, ignored) : each)),
      ),
      seen.executed,
    );
  },
  results: bound((seen) => seen.results?.length, equal),
  all_errors: (want, seen) => {
    if (seen.results === undefined) return 'was not observed';
    return must(
      (seen.results.length > 0 && seen.results.every((result) => result.status === 'error')) === want,
      seen.results,
    );
  },
  final_text: (want, seen) => differs(want, seen.finalText),
  final_text_ends_with: (want, seen) =>
    seen.finalText === undefined ? 'was not observed' : must(seen.finalText.endsWith(String(want)), seen.finalText),
  requests: bound((seen) => seen.requests?.length, equal),
  max_requests: bound((seen) => seen.requests?.length, atMost),
  bounded: (want, seen) => {
    const count = seen.requests?.length;
    if (count === undefined || seen.ended === undefined) return 'was not observed';
    return must(
      (seen.ended && count <= BOUND) === want,
      `${count} model calls, ${seen.ended ? 'ended' : 'stopped by the runner'}`,
    );
  },
  run_continues: (want, seen) =>
    seen.ended === undefined
      ? 'was not observed'
      : must((seen.finalText !== undefined && seen.ended) === want, seen.finalText),
  step_output_below: bound((seen) => seen.largestStepOutput, below),
  next_request_below_window: (want, seen) => {
    const { nextRequestTokens, window } = seen;
    if (nextRequestTokens === undefined || window === undefined) return 'was not observed';
    return must(nextRequestTokens < window === want, { nextRequestTokens, window });
  },
  unhandled_rejections: bound((seen) => seen.unhandledRejections, equal),
  prototype_untouched: (want, seen) => differs(want, seen.prototypeUntouched),
  compactions: bound((seen) => seen.compactions, equal),
  max_compactions: bound((seen) => seen.compactions, atMost),
  summary_items: bound((seen) => seen.summaryItems, equal),
  history_unchanged: (want, seen) => differs(want, seen.historyUnchanged),
  compaction_before_next_request: (want, seen) => differs(want, seen.compactionBeforeNextRequest),
  min_estimate: bound((seen) => seen.tokens, atLeast),
  max_estimate: bound((seen) => seen.tokens, atMost),
};

function without(args: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)));
}
