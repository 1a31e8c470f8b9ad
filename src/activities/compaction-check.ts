import type { CompactionConfig } from '../compaction/config.ts';
import { decideEarlyPass, type EarlyDecision, expectedSteps } from '../compaction/early-pass.ts';
import { compactionNeed, turnsOf } from '../compaction/policy.ts';
import type { AskedCompaction } from '../contract/activities.ts';
import type { CompactionEnd } from '../contract/compact-session.ts';
import { HoldfastError } from '../contract/errors.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import type { WindowBudget } from '../transcript/budget.ts';
import { viewMediaBytes } from '../transcript/media-edits.ts';
import { responseOf } from '../transcript/response-runs.ts';
import type { View } from '../transcript/view.ts';
import type { ActivityDeps } from './agents.ts';
import { baseTokens } from './estimates.ts';
import { randomId } from './random-id.ts';

/** A request that is about to be made. */
export interface NextRequest {
  readonly sessionId: string;
  readonly step: number;
  readonly run: LoadedRunConfig;
  readonly view: View;
  /** `provider/model`. */
  readonly model: string;
  /** Corrected estimate. */
  readonly tokens: number;
  readonly window: WindowBudget;
  /** Window of the model before, where this is another. */
  readonly previousWindow?: number;
  readonly idleCompactions: number;
  readonly afterCompaction: CompactionEnd | undefined;
  readonly config: CompactionConfig;
}

/** A compaction's id: random, and the id of its workflow. */
export function mintCompaction(asked: Omit<AskedCompaction, 'compactionId'>): AskedCompaction {
  return { compactionId: randomId('compaction-'), ...asked };
}

/**
 * The compaction that must come before the request, if any.
 *
 * @throws HoldfastError `ContextUnfittable` when one has just been tried and the request still does not fit.
 */
export async function neededCompaction(
  deps: Pick<ActivityDeps, 'store' | 'catalog'>,
  request: NextRequest,
): Promise<AskedCompaction | undefined> {
  const { tokens, window, afterCompaction, config, view } = request;
  if (afterCompaction !== undefined) {
    if (tokens > window.budget) throw unfittable(request, afterCompaction);
    return undefined;
  }
  const firstCall = request.step === 0;
  const trigger = firstCall ? 'pre_turn' : 'mid_loop';
  const bytes = viewMediaBytes(view);
  if (config.enabled && config.autoEnabled && bytes > config.maxMediaBytes) {
    return mintCompaction({ trigger, reason: `media take ${bytes} of at most ${config.maxMediaBytes} bytes` });
  }
  const early = firstCall && tokens > window.softThreshold ? await earlyPass(deps, request) : undefined;
  const need = compactionNeed({
    policy: config,
    tokens,
    window,
    firstCall,
    idleCompactions: request.idleCompactions,
    turns: turnsOf(view),
    ...(request.previousWindow === undefined ? {} : { previousWindow: request.previousWindow }),
    ...(early === undefined ? {} : { early }),
  });
  return need === undefined ? undefined : mintCompaction(need);
}

function unfittable({ tokens, window, run }: NextRequest, { outcome, message }: CompactionEnd): HoldfastError {
  const base = baseTokens(run);
  const why = message === undefined ? '' : ` ${message}`;
  return new HoldfastError(
    'ContextUnfittable',
    `the request takes ${tokens} tokens (${base} of them system prompt and tools) and ${window.budget} fit, also after a compaction (${outcome}).${why}`,
  );
}

/** How long providers keep a prefix in their caches, in milliseconds. */
const CACHE_LIVES_MS = 5 * 60_000;

/** Whether a run found nothing of the one before in the provider's cache; the first had none before it. */
function isCold(before: string | null | undefined, startedAt: string): boolean {
  return typeof before === 'string' && Date.parse(startedAt) - Date.parse(before) >= CACHE_LIVES_MS;
}

/** Whether to compact before it is necessary, where prices are known. */
async function earlyPass(
  { store, catalog }: Pick<ActivityDeps, 'store' | 'catalog'>,
  { sessionId, run, view, model, tokens, window, config }: NextRequest,
): Promise<EarlyDecision | undefined> {
  const { prices } = catalog.facts(model);
  if (prices === undefined) return undefined;
  const runs = await store.runs(sessionId);
  const past = runs.filter(({ completedAt }) => completedAt !== null);
  const lastAt = Date.parse(past.at(-1)?.completedAt ?? '');
  const base = baseTokens(run);
  const responses = new Set(view.items.flatMap((item) => responseOf(item)?.id ?? [])).size;
  const summaryTokens = Math.min(6000, 0.4 * window.budget);
  return decideEarlyPass({
    prices,
    tokens,
    baseTokens: base,
    tokensAfter: Math.min(tokens, base + window.keepRecent + summaryTokens),
    summaryTokens,
    hardThreshold: window.hardThreshold,
    stepTokens: Math.max(0, tokens - base) / Math.max(1, responses),
    expected: expectedSteps(
      past.map(({ steps, startedAt }, at) => ({ steps, cold: isCold(past[at - 1]?.completedAt, startedAt) })),
      0,
    ),
    warm: Date.now() - lastAt < CACHE_LIVES_MS,
    ride: (config.model ?? model) === model,
  });
}
