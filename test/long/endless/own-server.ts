import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../../src/contract/identity.ts';
import { endGroup } from '../../../src/devserver/process-group.ts';
import { resolveDevServer } from '../../../src/devserver/resolve.ts';
import { startDevServer } from '../../../src/devserver/start.ts';
import { type ServerRef, scratchFolder, WORKFLOWS } from './sessions.ts';

/** A dev server that nobody else uses, and the folder that it and its stores lie in. */
export interface OwnServer {
  readonly server: ServerRef;
  readonly folder: string;
  /** Ends the server and removes the folder. */
  close(): Promise<void>;
}

/** @param preferredPort where the server listens if the port is free; its Web UI 1,000 above. */
export async function startOwnServer(preferredPort: number): Promise<OwnServer> {
  const folder = scratchFolder();
  const narrator = { say: () => undefined, progress: () => undefined };
  const binary = await resolveDevServer({ env: process.env, cacheDir: resolve('.holdfast/bin'), ...narrator });
  const started = await startDevServer({
    binary,
    stateDir: folder,
    searchAttributes: SEARCH_ATTRIBUTES,
    preferredPort,
    preferredUiPort: preferredPort + 1000,
  });
  return {
    server: { address: started.address, namespace: started.namespace, workflows: WORKFLOWS },
    folder,
    async close() {
      await endGroup(started.process, 2000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
