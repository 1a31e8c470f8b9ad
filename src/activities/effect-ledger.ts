import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolOutput } from '../contract/activities.ts';
import { StoreError } from '../store/errors.ts';
import { reconcileTool } from '../tools/reconcile.ts';
import { assertNever } from '../transcript/assert-never.ts';
import { syntheticResult } from '../transcript/synthetic-result.ts';
import { cancelRequested, workerShutdown } from './heartbeat.ts';
import { contextOf, type Execution, fitted } from './tool-execution.ts';
import { beginJob, beginsFirst, commitJob, LEASE_MS, storedOutput, type ToolJob } from './tool-job.ts';

/** How often an attempt that waits for another one's lease looks again, in milliseconds. */
const LOOK_MS = 500;
/** How long a tool may take to find out what became of a lost attempt, in milliseconds. */
const RECONCILE_MS = 10_000;

/**
 * The answer, when the tool must not run (again). An at-most-once call whose earlier attempt may still be at work is
 * waited for; when that one is lost, the tool is asked what became of it, and is run again only if it says: nothing.
 */
export async function beforeRunning(job: ToolJob, execution: Execution): Promise<CallToolOutput | undefined> {
  if (!beginsFirst(job)) return undefined;
  let takeOver = false;
  for (;;) {
    const begun = await beginJob(job, takeOver ? { takeOver: true } : {});
    switch (begun.status) {
      case 'run':
        return undefined;
      case 'done':
        return storedOutput(begun.result);
      case 'closed':
        return { status: 'closed', preview: '' };
      case 'leased': {
        execution.note('another attempt may still be at work');
        const wait = Math.min(LOOK_MS, Math.max(20, begun.untilMs - Date.now()));
        await delay(wait, undefined, { signal: execution.signal }).catch(() => undefined);
        if (!execution.signal.aborted) break;
        if (!cancelRequested()) throw workerShutdown();
        return commitJob(job, { result: syntheticResult(job.call.callId, 'cancelled') }, { announce: false });
      }
      case 'lost': {
        const known = await becameOf(job, execution);
        if (known !== 'not_done') return known;
        takeOver = true;
        break;
      }
      default:
        return assertNever(begun, 'begun call');
    }
  }
}

/** What the lost attempt came to: its late result, or what the tool finds out. */
async function becameOf(job: ToolJob, execution: Execution): Promise<CallToolOutput | 'not_done'> {
  const { deps, input, call } = job;
  const late = await deps.store.lateResult(input.ref.sessionId, call.callId);
  if (late !== undefined) return commitJob(job, { result: late }, { announce: false });
  const known = await reconcileTool(execution.tool, call.arguments, contextOf(execution), RECONCILE_MS);
  deps.log.info({ event: 'tool.reconciled', call_id: call.callId, tool: call.name, outcome: known.outcome });
  switch (known.outcome) {
    case 'not_done':
      return 'not_done';
    case 'done': {
      const { blocks, isError } = known.output;
      return commitJob(job, await fitted(execution, isError ? 'error' : 'ok', blocks), { announce: false });
    }
    case 'unknown': {
      if (execution.signal.aborted && !cancelRequested()) throw workerShutdown();
      const detail = known.detail === undefined ? undefined : execution.redact(known.detail);
      return commitJob(job, { result: syntheticResult(call.callId, 'unknown_outcome', detail) }, { announce: false });
    }
    default:
      return assertNever(known, 'outcome');
  }
}

export interface Lease {
  /** Aborted when another attempt has taken the call over. */
  readonly lost: AbortSignal;
  readonly end: () => void;
}

/** Keeps the lease of an at-most-once call while its tool runs. */
export function keepLease({ deps, writer, effect, call }: ToolJob): Lease {
  const lost = new AbortController();
  if (effect !== 'at_most_once') return { lost: lost.signal, end: () => undefined };
  const timer = setInterval(() => {
    deps.store.renewLease(writer, call.callId, LEASE_MS).catch((error) => {
      // A store that is away for a moment is asked again; the lease is three times as long.
      if (error instanceof StoreError && error.code === 'Fenced') lost.abort(error);
    });
  }, LEASE_MS / 3);
  return { lost: lost.signal, end: () => clearInterval(timer) };
}
