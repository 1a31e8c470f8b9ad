import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../src/contract/identity.ts';
import { freePort } from '../../src/devserver/ports.ts';
import { isAlive } from '../../src/devserver/process-identity.ts';
import { type DevState, liveDevState } from '../../src/devserver/state.ts';
import { type DevServerInUse, useDevServer } from '../../src/devserver/use.ts';
import { installedTemporal } from './temporal-cli.ts';

let stateDir: string;
let inUse: DevServerInUse[];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'holdfast-dev-'));
  inUse = [];
});
afterEach(async () => {
  for (const server of inUse) await server.release();
  rmSync(stateDir, { recursive: true, force: true });
});

/** Of an address on the loopback. */
function portOf(address: string): number {
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  return Number(address.split(':')[1]);
}

async function use(over: { preferredPort?: number; preferredUiPort?: number } = {}): Promise<DevServerInUse> {
  const server = await useDevServer({
    stateDir,
    binary: installedTemporal,
    worker: false,
    searchAttributes: SEARCH_ATTRIBUTES,
    preferredPort: 17_233,
    preferredUiPort: 18_233,
    ...over,
  });
  inUse.push(server);
  return server;
}

/** Another process that uses, and leaves, the server of the same folder. Resolves once it is in. */
async function otherProcess(): Promise<{ state: DevState; leave: () => Promise<void>; kill: () => Promise<void> }> {
  const script = `
    import { useDevServer } from ${JSON.stringify(join(import.meta.dirname, '../../dist/src/devserver/use.js'))};
    const binary = async () => (${JSON.stringify(await installedTemporal())});
    const server = await useDevServer({ stateDir: ${JSON.stringify(stateDir)}, binary, worker: true, searchAttributes: [], preferredPort: 17233, preferredUiPort: 18233 });
    console.log(JSON.stringify(server.state));
    process.stdin.once('data', async () => { await server.release(); process.exit(0); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const state = await new Promise<DevState>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(JSON.parse(data.toString()))),
  );
  return {
    state,
    leave: async () => {
      child.stdin.write('x');
      await closed;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

describe('a started dev server', () => {
  test('serves a namespace that keeps runs thirty days and knows the search attributes', async () => {
    const { state, started } = await use();
    expect(started).toBe(true);
    const connection = await Connection.connect({ address: state.address });
    try {
      const { config } = await connection.workflowService.describeNamespace({ namespace: state.namespace });
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 3600);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({
        namespace: state.namespace,
      });
      // 2 is INDEXED_VALUE_TYPE_KEYWORD.
      expect(customAttributes).toMatchObject(Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, 2])));
    } finally {
      await connection.close();
    }
    expect((await fetch(state.uiUrl)).status).toBe(200);
    expect(statSync(join(stateDir, 'temporal.db')).size).toBeGreaterThan(0);
  });

  test('listens on the loopback only and steps over ports in use', async () => {
    const [preferredPort, preferredUiPort] = [await freePort(17_400), await freePort(18_400)];
    const blockers = await Promise.all([preferredPort, preferredUiPort].map((port) => listen(port)));
    try {
      const { state } = await use({ preferredPort, preferredUiPort });
      expect(portOf(state.address)).toBeGreaterThan(preferredPort);
      expect(portOf(new URL(state.uiUrl).host)).toBeGreaterThan(preferredUiPort);
      if (process.platform === 'linux')
        expect(listeners(state.process.pid).filter((ip) => ip !== '0100007F')).toEqual([]);
    } finally {
      for (const blocker of blockers) blocker.close();
    }
  });

  test('a damaged database is told with the log and what to do', async () => {
    writeFileSync(join(stateDir, 'temporal.db'), 'this is no database'.repeat(1000));
    await expect(use()).rejects.toMatchObject({
      code: 'start_failed',
      hint: expect.stringMatching(/temporal\.log.*move .*temporal\.db/s),
    });
    expect(liveDevState(stateDir)).toBeUndefined();
  });
});

describe('several users of one folder', () => {
  test('the second finds the first one’s server, and the last to leave ends it', async () => {
    const first = await use();
    const other = await otherProcess();
    expect(other.state).toEqual(first.state);
    await first.release();
    expect(isAlive(first.state.process)).toBe(true);
    await other.leave();
    expect(isAlive(first.state.process)).toBe(false);
    expect(liveDevState(stateDir)).toBeUndefined();
  });

  test('two that start at once share one server', async () => {
    const [a, b] = await Promise.all([otherProcess(), otherProcess()]);
    expect(a.state).toEqual(b.state);
    await Promise.all([a.leave(), b.leave()]);
    expect(isAlive(a.state.process)).toBe(false);
  });

  test('a server whose starter was killed is found and ended by the next user', async () => {
    const other = await otherProcess();
    await other.kill();
    expect(isAlive(other.state.process)).toBe(true);
    const mine = await use();
    expect(mine).toMatchObject({ started: false, hasWorker: false, state: other.state });
    await mine.release();
    expect(isAlive(other.state.process)).toBe(false);
  });

  test('a user with a worker is told to the others', async () => {
    const other = await otherProcess();
    expect((await use()).hasWorker).toBe(true);
    await other.leave();
  });

  test.each([
    ['a dead process', (state: DevState) => ({ ...state, process: { pid: 2 ** 22 + 1, startMark: '1' } })],
    [
      'a pid that was given to another process',
      (state: DevState) => ({ ...state, process: { pid: process.pid, startMark: '1' } }),
    ],
    ['half a file', () => 'nothing'],
  ])('a state file of %s is ignored, and that process left alone', async (_name, forge) => {
    const first = await use();
    await first.release();
    writeFileSync(join(stateDir, 'dev.json'), JSON.stringify(forge(first.state)));
    expect((await use()).started).toBe(true);
  });

  test('runs of an earlier server are there again', async () => {
    const first = await use();
    const namespaceId = await idOf(first.state);
    await first.release();
    expect(await idOf((await use()).state)).toBe(namespaceId);
  });
});

async function idOf(state: DevState): Promise<string | null | undefined> {
  const connection = await Connection.connect({ address: state.address });
  try {
    return (await connection.workflowService.describeNamespace({ namespace: state.namespace })).namespaceInfo?.id;
  } finally {
    await connection.close();
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** Local addresses, in hex, on which a process of the pid's network listens at the ports that it owns. */
function listeners(pid: number): readonly string[] {
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  const ports = new Set([17_234, 18_234].map((port) => port.toString(16).toUpperCase().padStart(4, '0')));
  return rows.flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    const [ip = '', port = ''] = local.split(':');
    return state === '0A' && ports.has(port) ? [ip] : [];
  });
}

test('a lock of a dead process does not stop the next one', async () => {
  writeFileSync(join(stateDir, 'dev.lock'), JSON.stringify({ pid: 2 ** 22 + 1, startMark: '1' }));
  expect((await use()).started).toBe(true);
});
