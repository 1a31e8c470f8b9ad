import { isDeepStrictEqual } from 'node:util';
import { isObj, type Obj, objs } from './case-file.ts';
import type { CheckTable } from './check.ts';
import { differs, show } from './compare.ts';
import type { Observation } from './observation.ts';

/** Keys about one model answer. */
export const ANSWER_CHECKS: CheckTable = {
  finish: (want, seen) => (seen.error ? `the call failed: ${show(seen.error)}` : differs(want, seen.finish)),
  raw_finish_reason: (want, seen) => differs(want, seen.rawFinish ?? seen.error?.code),
  text: (want, seen, all) => differs(...texts(want, seen.text, all)),
  partial_text: (want, seen) => differs(want, seen.partialText),
  refusal: (want, seen) => differs(want, seen.refusal),
  reasoning: (want, seen, all) => reasoningProblem(want, seen, all),
  explanation: (want, seen) => differs(want, seen.explanation),
  calls: (want, seen) => callsProblem(objs(want), seen),
  usage: (want, seen) => usageProblem(want, seen),
  ids_nonempty: (want, seen) => idsProblem(want === true, seen, (ids) => ids.every((id) => id !== '')),
  flagged: (want, seen) =>
    seen.flagged?.includes(String(want)) ? undefined : `expected the flag ${show(want)}, seen ${show(seen.flagged)}`,
  signal: (want, seen) =>
    seen.signals?.includes(String(want)) ? undefined : `expected the event ${show(want)}, seen ${show(seen.signals)}`,
};

function texts(want: unknown, seen: string | undefined, all: Obj): [unknown, unknown] {
  if (all.compare !== 'trimmed') return [want, seen];
  return [typeof want === 'string' ? want.trim() : want, seen?.trim()];
}

/** Only the figures that are asked for count; `null` is unknown. */
function usageProblem(want: unknown, { usage }: Observation): string | undefined {
  if (!isObj(want) || usage === undefined || usage === null) return differs(want, usage);
  return differs(want, Object.fromEntries(Object.keys(want).map((key) => [key, usage[key]])));
}

/** The text as seen; what else is asked for (a signature, encrypted content) must stand in the next request. */
function reasoningProblem(want: unknown, seen: Observation, all: Obj): string | undefined {
  const { text = want, ...replayed } = isObj(want) ? want : {};
  const lost = Object.values(replayed).filter(
    (value) => !JSON.stringify(seen.next?.body ?? null).includes(JSON.stringify(value)),
  );
  if (lost.length > 0) return `${show(lost)} is not in the next request`;
  return text === undefined ? undefined : differs(...texts(text, seen.reasoning, all));
}

function callsProblem(want: readonly Obj[], seen: Observation): string | undefined {
  if (seen.calls === undefined) return 'was not observed';
  const same =
    want.length === seen.calls.length &&
    want.every((call, i) => {
      const other = seen.calls?.[i];
      return (
        other !== undefined &&
        call.name === other.name &&
        isDeepStrictEqual(call.args, other.args) &&
        (call.id === undefined || call.id === other.id)
      );
    });
  return same ? undefined : `expected ${show(want)}, seen ${show(seen.calls)}`;
}

function idsProblem(wanted: boolean, seen: Observation, holds: (ids: string[]) => boolean): string | undefined {
  if (seen.calls === undefined) return 'no calls were observed';
  const ids = seen.calls.map((call) => call.callId);
  return holds(ids) === wanted ? undefined : `seen ${show(ids)}`;
}
