import type { CompactionConfig } from '../compaction/config.ts';
import type { RunConfig } from '../store/run-config.ts';
import { type WindowBudget, windowBudget } from '../transcript/budget.ts';
import type { ActivityDeps } from './agents.ts';

/**
 * Budget of views: a plain function of the window that is frozen with the run, so that a view can be built again later.
 */
export function viewBudget(window: number): number {
  return windowBudget({ window }).budget;
}

/**
 * What a request to `model` may take: the window that the run was opened with, or a smaller one that a fallback has or
 * that the provider named when it refused.
 */
export function requestBudget(
  deps: Pick<ActivityDeps, 'catalog'>,
  run: RunConfig,
  model: string,
  config: CompactionConfig,
  named: number | undefined,
): WindowBudget {
  const { windowTokens, maxOutputTokens } = deps.catalog.facts(model);
  const own = model === run.model ? run.window : Math.min(run.window, windowTokens ?? run.window);
  return windowBudget({
    window: Math.min(own, named ?? own),
    config,
    ...(maxOutputTokens === undefined ? {} : { outputLimit: maxOutputTokens }),
    ...(run.maxOutputTokens === null ? {} : { maxOutputTokens: run.maxOutputTokens }),
  });
}
