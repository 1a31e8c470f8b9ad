import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { openStore } from '../../../src/store/open-store.ts';
import { startSessionWorker } from '../endless/sessions.ts';
import { type CrashPlan, crashingStore } from './crash-plan.ts';
import { SETUP } from './crash-setup.ts';

// A worker that dies when its plan says so: FOLDER ADDRESS NAMESPACE MODEL_URL [PLAN as JSON]. Prints `ready` when it polls.

const [folder = '', address = '', namespace = '', modelUrl = '', plan] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const workflows = { bundlePath: fileURLToPath(new URL('../../../workflow-bundle.js', import.meta.url)) };
const store = await openStore(join(folder, 'holdfast.db'));
const used = plan === undefined ? store : crashingStore(store, JSON.parse(plan) as CrashPlan, join(folder, 'crashed'));
const worker = await startSessionWorker(
  { ...SETUP, server: { address, namespace, workflows } },
  { store: used, folder, modelUrl },
);
process.stdout.write('ready\n');
await worker.done;
