import type { CallModelInput } from '../contract/activities.ts';
import type { Target } from '../providers/request-target.ts';
import type { ResetPoint } from '../store/reset-port.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import type { RunRef, Writer } from '../store/store.ts';
import type { View } from '../transcript/view.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';
import type { Estimates, SizedRequest } from './estimates.ts';
import type { Repeats } from './loop-guard.ts';
import type { RunConfigs } from './run-configs.ts';
import type { Views } from './views.ts';
import { runRef } from './writer.ts';

/** What the activities of a run share in a worker. */
export interface SharedDeps extends ActivityDeps {
  readonly runConfigs: RunConfigs;
  readonly views: Views;
  readonly estimates: Estimates;
}

/** One call of a model under way. */
export interface ModelCall {
  readonly deps: SharedDeps;
  readonly input: CallModelInput;
  readonly writer: Writer;
  readonly run: LoadedRunConfig;
  readonly agent: AgentSpec | undefined;
  /** Last seq that the request sees. */
  readonly head: number;
  readonly view: View;
  /** How often the latest calls of the run were repeated with the same results. */
  readonly repeats: Repeats;
}

/** A model call comes after the answer of the step before, and after the compaction that it is told of. */
export function pointOf({ step, afterCompaction }: CallModelInput): ResetPoint {
  const { compactionId } = afterCompaction ?? {};
  return { answered: step - 1, ...(compactionId === undefined ? {} : { afterCompaction: compactionId }) };
}

export function refOf({ input, head }: ModelCall): RunRef {
  return { ...runRef(input.ref, pointOf(input)), head };
}

export function sizedRequest({ input, run, view }: ModelCall, target: Target): SizedRequest {
  const { sessionId, runId } = input.ref;
  return { sessionId, runId, step: input.step, run, target, view };
}
