import { join } from 'node:path';
import { namespaceId } from '../../client/holdfast-client.ts';
import { SEARCH_ATTRIBUTES, TASK_QUEUE, TOOLS_TASK_QUEUE } from '../../contract/identity.ts';
import { locateTemporal } from '../../devserver/resolve.ts';
import type { Settings } from '../settings.ts';

import type { Examination } from './examination.ts';
import type { Check, Found } from './finding.ts';

const DAY_S = 24 * 3600;
/** Values of temporal.api.enums.v1.TaskQueueType and IndexedValueType. */
const WORKFLOW_QUEUE = 1;
const ACTIVITY_QUEUE = 2;
const KEYWORD = 2;

const UNREACHABLE: Found = { verdict: 'skipped', found: 'no server to ask' };

export const server: Check = {
  what: 'Temporal server',
  look: async (examination) => {
    const access = await examination.access().catch(() => undefined);
    if (access === undefined) return serverToStart(examination.settings);
    const { address, uiUrl, external } = access;
    try {
      const client = await examination.temporal();
      const { serverVersion } = await client.workflowService.getSystemInfo({});
      const page = uiUrl === undefined ? '' : `, Web UI ${uiUrl}`;
      return {
        verdict: 'ok',
        found: `${serverVersion} at ${address}${page}${external ? '' : ' (dev server of this folder)'}`,
      };
    } catch {
      const mend = 'Check TEMPORAL_ADDRESS, TLS and API key of the environment or the Temporal profile.';
      return { verdict: 'wrong', found: `nothing answers at ${address}`, mend };
    }
  },
};

export const namespace: Check = {
  what: 'namespace',
  look: onServer(async (examination) => {
    const client = await examination.temporal();
    const name = client.options.namespace;
    const { config } = await client.workflowService.describeNamespace({ namespace: name });
    const bound = (await (await examination.store())?.identity())?.namespaceId ?? null;
    if (bound !== null && bound !== (await namespaceId(client))) {
      const mend =
        'Set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE to the server this store was used with, or use another HOLDFAST_STORE.';
      return { verdict: 'wrong', found: `the store belongs to another namespace than "${name}" here`, mend };
    }
    const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
    if (days >= 7) return { verdict: 'ok', found: `"${name}" keeps closed runs ${days} days` };
    const mend = `Raise it: temporal operator namespace update --namespace ${name} --retention 720h.`;
    return { verdict: 'warning', found: `"${name}" forgets closed runs after ${days} days (transcripts stay)`, mend };
  }),
};

export const searchAttributes: Check = {
  what: 'search attributes',
  look: onServer(async (examination) => {
    const client = await examination.temporal();
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
      namespace: client.options.namespace,
    });
    const missing = SEARCH_ATTRIBUTES.filter((name) => customAttributes?.[name] !== KEYWORD);
    if (missing.length === 0) return { verdict: 'ok', found: SEARCH_ATTRIBUTES.join(', ') };
    const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
    const mend = `A worker registers them when it starts; or do it by hand: temporal operator search-attribute create ${flags}.`;
    return { verdict: 'warning', found: `missing: ${missing.join(', ')}`, mend };
  }),
};

export const workers: Check = {
  what: 'workers',
  look: onServer(async (examination) => {
    const client = await examination.temporal();
    const queues = [
      { name: TASK_QUEUE, taskQueueType: WORKFLOW_QUEUE },
      { name: TOOLS_TASK_QUEUE, taskQueueType: ACTIVITY_QUEUE },
    ];
    const counts = await Promise.all(
      queues.map(async ({ name, taskQueueType }) => {
        const request = { namespace: client.options.namespace, taskQueue: { name }, taskQueueType };
        return (await client.workflowService.describeTaskQueue(request)).pollers?.length ?? 0;
      }),
    );
    const found = queues.map(({ name }, n) => `${counts[n]} on ${name}`).join(', ');
    if (counts.every((count) => count > 0)) return { verdict: 'ok', found };
    return { verdict: 'warning', found, mend: 'Start one with `holdfast worker`; `holdfast run` starts its own.' };
  }),
};

/** None runs: whether one could be started at once. */
async function serverToStart({ stateDir }: Settings): Promise<Found> {
  const binary = await locateTemporal({ env: process.env, cacheDir: join(stateDir, 'bin'), say: () => {} });
  const found = 'none is named, and none runs for this folder';
  if (binary !== undefined) {
    return { verdict: 'warning', found, mend: `\`holdfast run\` and \`holdfast dev\` start one, with ${binary.path}.` };
  }
  return { verdict: 'warning', found, mend: '`holdfast dev` fetches and starts one; or set TEMPORAL_ADDRESS.' };
}

/** Without a server there is nothing to find, and the check of the server has said so. */
function onServer(check: (examination: Examination) => Promise<Found>): (examination: Examination) => Promise<Found> {
  return async (examination) => {
    try {
      await examination.temporal();
    } catch {
      return UNREACHABLE;
    }
    return check(examination);
  };
}
