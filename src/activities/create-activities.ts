import type { Activities } from '../contract/activities.ts';
import type { CompactionActivities } from '../contract/compact-session.ts';
import type { ActivityDeps } from './agents.ts';
import { createCallModel } from './call-model.ts';
import { createCallTool } from './call-tool.ts';
import { createCloseRun } from './close-run.ts';
import { createCompactionActivities } from './compaction.ts';
import { createEstimates } from './estimates.ts';
import { createOpenRun } from './open-run.ts';
import { createRunConfigs } from './run-configs.ts';
import { withSafeFailures } from './safe-failures.ts';
import { createSettleBatch } from './settle-batch.ts';
import { createViews } from './views.ts';

/** Binds all activities of a worker to what they work with. */
export function createActivities(deps: ActivityDeps): Activities & CompactionActivities {
  const shared = {
    ...deps,
    runConfigs: createRunConfigs(deps.store),
    views: createViews(deps.store),
    estimates: createEstimates(deps.store),
  };
  const activities = {
    openRun: createOpenRun(deps),
    callModel: createCallModel(shared),
    callTool: createCallTool(shared),
    settleBatch: createSettleBatch(deps),
    closeRun: createCloseRun(shared),
    ...createCompactionActivities(shared),
  };
  return deps.redact === undefined ? activities : withSafeFailures(activities, deps.redact);
}
