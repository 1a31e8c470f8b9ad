import type { Client } from '@temporalio/client';
import { AGENT_RUN, workflowIdOf } from '../../contract/identity.ts';
import type { Store } from '../../store/store.ts';
import { troubleOf } from '../trouble.ts';
import type { Check } from './finding.ts';

const MAX_LOOKED_AT = 200;

/** Open runs that do not get on: failing workflow tasks, activities tried again and again, workflows that are gone. */
export const stuckRuns: Check = {
  what: 'open runs',
  look: async (examination) => {
    let client: Client;
    try {
      client = await examination.temporal();
    } catch {
      return { verdict: 'skipped', found: 'no server to ask' };
    }
    const open = await openWorkflows(client);
    const stuck = (await Promise.all(open.map((workflowId) => troubles(client, workflowId)))).flat();
    const store = await examination.store();
    const gone = store === undefined ? [] : await goneRuns(store, new Set(open));
    if (stuck.length + gone.length === 0) return { verdict: 'ok', found: `${open.length} open, none stuck` };
    return {
      verdict: 'warning',
      found: [...stuck, ...gone].join('; '),
      mend: 'See the run in the Web UI; `holdfast cancel SESSION` ends it, and the next message of a session whose workflow is gone marks that run and goes on.',
    };
  },
};

async function openWorkflows(client: Client): Promise<readonly string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = '${AGENT_RUN}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    ids.push(workflowId);
    if (ids.length >= MAX_LOOKED_AT) break;
  }
  return ids;
}

async function troubles(client: Client, workflowId: string): Promise<readonly string[]> {
  const found = await troubleOf(client, workflowId);
  return found.map(({ what, attempt, why }) => `${workflowId}: ${what} at attempt ${attempt} (${why})`);
}

/** Sessions whose last run is open in the store although no workflow is. */
async function goneRuns(store: Store, open: ReadonlySet<string>): Promise<readonly string[]> {
  const sessions = await store.sessions({ limit: MAX_LOOKED_AT });
  return sessions
    .filter(({ lastStatus }) => lastStatus === 'running' || lastStatus === 'waiting')
    .filter(({ sessionId }) => !open.has(workflowIdOf(sessionId)))
    .map(
      ({ sessionId, lastRunId }) =>
        `${workflowIdOf(sessionId)}: run ${lastRunId} is open in the store, its workflow is gone`,
    );
}
