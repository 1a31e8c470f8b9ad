import { HoldfastError } from '../contract/errors.ts';
import type { Catalog } from '../providers/catalog.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import { targetOf } from '../providers/request-target.ts';
import { withoutReplay } from '../providers/without-replay.ts';
import { loadMedia } from '../store/load-media.ts';
import { loadView } from '../store/load-view.ts';
import { loadRunConfig } from '../store/run-config.ts';
import type { RunRow, Store } from '../store/store.ts';
import { windowBudget } from '../transcript/budget.ts';
import { buildRequest } from '../transcript/build-request.ts';
import { requestMedia } from '../transcript/request-media.ts';
import type { View } from '../transcript/view.ts';

export interface RebuildDeps {
  readonly store: Store;
  readonly providers: ProviderRegistry;
  readonly catalog: Pick<Catalog, 'facts'>;
}

/**
 * The body of a request that a run made, byte for byte as it went out, from what the store keeps.
 *
 * @throws HoldfastError `NotFound` when the run has no such step, `UnknownModel` when its provider is not set up here.
 */
export async function rebuildRequest(deps: RebuildDeps, runId: string, step: number): Promise<string> {
  const { store, providers, catalog } = deps;
  const row = await store.request(runId, step);
  const made = row?.request;
  if (row === undefined || made === undefined || made === null) {
    throw new HoldfastError('NotFound', `run ${runId} has no committed model call at step ${step}`);
  }
  const run = await loadRunConfig(store, runId);
  const sessionId = (await store.run(runId))?.sessionId ?? '';
  const view = await loadView(store, sessionId, {
    revision: String(made.viewRevision),
    head: Number(made.head),
    budget: windowBudget({ window: run.config.window }).budget,
  });
  const target = targetOf(providers.resolve(String(made.model)), catalog);
  const maxOutputTokens = typeof made.maxOutputTokens === 'number' ? made.maxOutputTokens : null;
  const { request } = buildRequest({ ...run, maxOutputTokens }, view, target);
  const sent = made.withoutReplay === true ? withoutReplay(request) : request;
  const media = await loadMedia(store, requestMedia(sent));
  return JSON.stringify(target.connection.wire(sent, media));
}

/** What the next request of a run's session would carry. */
export async function currentView(store: Store, run: RunRow): Promise<View> {
  const { config } = await loadRunConfig(store, run.runId);
  return loadView(store, run.sessionId, {
    revision: await store.viewRevision(run.sessionId),
    head: Number.MAX_SAFE_INTEGER,
    budget: windowBudget({ window: config.window }).budget,
  });
}
