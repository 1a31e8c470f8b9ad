import { join } from 'node:path';
import type { ConnectionOptions } from '@temporalio/client';
import { connectionFromEnvironment } from '../config/connection.ts';
import { HoldfastError } from '../contract/errors.ts';
import { SEARCH_ATTRIBUTES } from '../contract/identity.ts';
import type { Narrator } from '../devserver/narrator.ts';
import { resolveDevServer } from '../devserver/resolve.ts';
import { liveDevState, otherUsers } from '../devserver/state.ts';
import { useDevServer } from '../devserver/use.ts';
import type { Settings } from './settings.ts';
import { ensureStateDir } from './state-dir.ts';

/** A Temporal server that a command works with. */
export interface TemporalAccess {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  /** How people call it: its address. */
  readonly address: string;
  /** Base address of its Web UI, where known. */
  readonly uiUrl: string | undefined;
  /** What a worker of ours needs in its environment to reach the same server. */
  readonly workerEnv: Readonly<Record<string, string>>;
  /** Named by `TEMPORAL_ADDRESS` or a profile: not ours to start or stop. */
  readonly external: boolean;
}

/** The server that the environment names, else the folder's running dev server. Starts nothing. */
export async function findTemporal({ stateDir }: Settings): Promise<TemporalAccess> {
  const named = await externalTemporal();
  if (named !== undefined) return named;
  const state = liveDevState(stateDir);
  if (state === undefined) {
    throw new HoldfastError('TemporalUnavailable', `no Temporal server is named, and none runs for ${stateDir}`);
  }
  return ofDevServer(state);
}

/** A server in use: nobody ends it before `release`. */
export interface TemporalLease {
  readonly access: TemporalAccess;
  /** Whether somebody else keeps a worker running on the folder's dev server. */
  readonly hasWorker: boolean;
  readonly release: () => Promise<void>;
  readonly releaseNow: () => void;
}

/** As {@link findTemporal}, but starts the folder's dev server where none runs. `keepsWorker`: see `useDevServer`. */
export async function leaseTemporal(
  { stateDir }: Settings,
  narrator: Narrator,
  keepsWorker: boolean,
): Promise<TemporalLease> {
  ensureStateDir(stateDir);
  const named = await externalTemporal();
  if (named !== undefined) {
    narrator.say(`Temporal server of the environment: ${named.address}`);
    return { access: named, hasWorker: false, release: async () => {}, releaseNow: () => {} };
  }
  const binary = () => resolveDevServer({ env: process.env, cacheDir: join(stateDir, 'bin'), ...narrator });
  const inUse = await useDevServer({ stateDir, binary, worker: keepsWorker, searchAttributes: SEARCH_ATTRIBUTES });
  const { state, started, hasWorker, release, releaseNow } = inUse;
  narrator.say(`${started ? 'Started a Temporal dev server' : 'Temporal dev server of this folder'}: ${state.address}`);
  return { access: ofDevServer(state), hasWorker, release, releaseNow };
}

/** Whether somebody else's worker may take a run: on a server that is not ours, or beside `holdfast dev`. */
export async function workerMayRun({ stateDir }: Settings): Promise<boolean> {
  if ((await externalTemporal()) !== undefined) return true;
  return liveDevState(stateDir) !== undefined && otherUsers(stateDir).some((user) => user.worker);
}

async function externalTemporal(): Promise<TemporalAccess | undefined> {
  const named = await connectionFromEnvironment(process.env);
  if (named === undefined) return undefined;
  return {
    connection: named.connection,
    namespace: named.namespace,
    address: named.address,
    uiUrl: process.env.TEMPORAL_UI_URL?.replace(/\/+$/, ''),
    // The worker reads the same environment and the same profile file.
    workerEnv: {},
    external: true,
  };
}

function ofDevServer(state: { address: string; namespace: string; uiUrl: string }): TemporalAccess {
  const { address, namespace, uiUrl } = state;
  const workerEnv = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  return { connection: { address }, namespace, address, uiUrl, workerEnv, external: false };
}

/** Page of a run in the Web UI. */
export function webUiLink(access: TemporalAccess, workflowId: string, temporalRunId?: string): string | undefined {
  if (access.uiUrl === undefined) return undefined;
  const run = temporalRunId === undefined ? '' : `/${encodeURIComponent(temporalRunId)}/history`;
  return `${access.uiUrl}/namespaces/${encodeURIComponent(access.namespace)}/workflows/${encodeURIComponent(workflowId)}${run}`;
}
