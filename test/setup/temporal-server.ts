import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { SEARCH_ATTRIBUTES } from '../../src/contract/identity.ts';
import { freePort } from '../../src/devserver/ports.ts';
import { resolveDevServer } from '../../src/devserver/resolve.ts';

declare module 'vitest' {
  interface ProvidedContext {
    temporal: {
      readonly address: string;
      readonly binary: string;
      readonly claims: string;
      readonly bundlePath: string;
    };
  }
}

/** Namespaces made when the server starts: each test file takes one of its own. */
export const NAMESPACES: readonly string[] = Array.from({ length: 40 }, (_, index) => `test-${index}`);

/** One server and one workflow bundle for the whole run of tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const narrator = { say: () => undefined, progress: () => undefined };
  const binary = await resolveDevServer({ env: process.env, cacheDir: resolve('.holdfast/bin'), ...narrator });
  const [server, bundle] = await Promise.all([
    startServer(binary.path, folder),
    bundleWorkflowCode({ workflowsPath: resolve('src/workflows/index.ts'), logger: silent }),
  ]);
  const bundlePath = join(folder, 'workflow-bundle.js');
  writeFileSync(bundlePath, bundle.code);
  project.provide('temporal', { address: server.address, binary: binary.path, claims: folder, bundlePath });
  return async () => {
    server.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
}

async function startServer(binary: string, folder: string): Promise<{ address: string; process: ChildProcess }> {
  const taken = new Set<number>();
  const port = async (from: number): Promise<number> => {
    const free = await freePort(from, taken);
    taken.add(free);
    return free;
  };
  const grpc = await port(26_233);
  const child = spawn(
    binary,
    [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'],
      ...[
        '--port',
        String(grpc),
        '--http-port',
        String(await port(27_233)),
        '--metrics-port',
        String(await port(28_233)),
      ],
      ...['--db-filename', join(folder, 'temporal.db')],
      ...['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=2000'],
      ...['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
      // Long runs continue as new soon, so that the tests go through that moment often.
      ...['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60'],
      ...NAMESPACES.flatMap((name) => ['--namespace', name]),
      ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ],
    { stdio: 'ignore' },
  );
  const address = `127.0.0.1:${grpc}`;
  const connection = await Connection.connect({ address, connectTimeout: 30_000 });
  await connection.close();
  return { address, process: child };
}

const nothing = (): void => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
