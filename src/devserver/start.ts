import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TemporalBinary } from './binary.ts';
import { DevServerError } from './errors.ts';
import { freePort } from './ports.ts';
import { endGroup } from './process-group.ts';
import { identityOf, type ProcessIdentity } from './process-identity.ts';

const HOST = '127.0.0.1';
const NAMESPACE = 'default';
const PREFERRED_PORT = 7233;
const PREFERRED_UI_PORT = 8233;
const READY_TIMEOUT_MS = 30_000;
/** The tries against other processes that take a port between our look and the server's bind. */
const PORT_TRIES = 5;
/** Closed runs stay readable in the Web UI for thirty days; the dev server's own default is one. */
const RETENTION = `${30 * 24 * 3600}s`;

/**
 * Without these two a step takes 190 ms instead of 31 ms: the server's one history shard looks at its queue at most
 * twenty times a second, and first activities wait for a poll.
 */
const DYNAMIC_CONFIG = ['history.transferProcessorMaxPollRPS=2000', 'system.enableActivityEagerExecution=true'];

export interface StartOptions {
  readonly binary: TemporalBinary;
  /** State folder of the workspace (`.holdfast`): gets `temporal.db` and `logs/`. */
  readonly stateDir: string;
  /** Names of search attributes to register, all of type Keyword. */
  readonly searchAttributes: readonly string[];
  readonly preferredPort?: number;
  readonly preferredUiPort?: number;
  /** Further settings as `KEY=VALUE`. */
  readonly dynamicConfig?: readonly string[];
}

/** A dev server that serves. It leads a process group of its own, so a terminal's Ctrl-C does not reach it. */
export interface StartedServer {
  readonly process: ProcessIdentity;
  readonly address: string;
  readonly uiUrl: string;
  readonly namespace: string;
  readonly logFile: string;
}

/**
 * Starts the dev server on the folder's file database, on the loopback only, and waits until its namespace answers.
 *
 * The caller must hold the folder's lock: Temporal itself lets two servers open one database.
 *
 * @throws DevServerError `start_failed` with the last lines of its log.
 */
export async function startDevServer(options: StartOptions): Promise<StartedServer> {
  const logDir = join(options.stateDir, 'logs');
  mkdirSync(logDir, { recursive: true });
  const logFile = join(logDir, 'temporal.log');
  for (let attempt = 1; ; attempt += 1) {
    const ports = await choosePorts(options);
    const logStart = sizeOf(logFile);
    const child = spawnServer(options, ports, logFile);
    const failure = await untilReady(child, ports.http);
    if (failure === undefined && child.pid !== undefined) {
      return {
        process: identityOf(child.pid),
        address: `${HOST}:${ports.grpc}`,
        uiUrl: `http://${HOST}:${ports.ui}`,
        namespace: NAMESPACE,
        logFile,
      };
    }
    if (child.pid !== undefined && child.exitCode === null) await endGroup(identityOf(child.pid), 0);
    const log = readFileSync(logFile).subarray(logStart).toString('utf8');
    if (/address already in use|can't set \w+ port/.test(log) && attempt < PORT_TRIES) continue;
    throw new DevServerError(
      'start_failed',
      `The Temporal dev server does not start: ${failure}.`,
      `Its log is ${logFile}${lastLine(log)}. If its database is damaged, move ${databaseOf(options)} away.`,
    );
  }
}

interface Ports {
  readonly grpc: number;
  readonly ui: number;
  readonly http: number;
  readonly metrics: number;
}

async function choosePorts({ preferredPort, preferredUiPort }: StartOptions): Promise<Ports> {
  const taken = new Set<number>();
  const next = async (preferred: number): Promise<number> => {
    const port = await freePort(preferred, taken);
    taken.add(port);
    return port;
  };
  const grpc = await next(preferredPort ?? PREFERRED_PORT);
  const ui = await next(preferredUiPort ?? PREFERRED_UI_PORT);
  const http = await next(ui + 1000);
  return { grpc, ui, http, metrics: await next(http + 1) };
}

function spawnServer(options: StartOptions, ports: Ports, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  try {
    const child = spawn(
      options.binary.path,
      [
        ...['server', 'start-dev', '--ip', HOST, '--ui-ip', HOST, '--log-level', 'warn'],
        ...['--port', String(ports.grpc), '--ui-port', String(ports.ui)],
        ...['--http-port', String(ports.http), '--metrics-port', String(ports.metrics)],
        ...['--db-filename', databaseOf(options)],
        ...[...DYNAMIC_CONFIG, ...(options.dynamicConfig ?? [])].flatMap((pair) => ['--dynamic-config-value', pair]),
        ...options.searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ],
      { stdio: ['ignore', log, log], detached: true },
    );
    // An error of spawn shows as a child without a pid.
    child.on('error', () => {});
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function databaseOf({ stateDir }: StartOptions): string {
  return join(stateDir, 'temporal.db');
}

/** Resolves with `undefined` once the namespace answers and has its retention, else with why it never did. */
async function untilReady(child: ChildProcess, httpPort: number): Promise<string | undefined> {
  const url = `http://${HOST}:${httpPort}/api/v1/namespaces/${NAMESPACE}`;
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await delay(25)) {
    if (child.pid === undefined) return 'its program cannot be run';
    if (child.exitCode !== null) return `it ended with code ${child.exitCode}`;
    if (child.signalCode !== null) return `it was ended by ${child.signalCode}`;
    if (await succeeds(url)) {
      const body = JSON.stringify({ config: { workflowExecutionRetentionTtl: RETENTION } });
      const headers = { 'content-type': 'application/json' };
      return (await succeeds(`${url}/update`, { method: 'POST', headers, body }))
        ? undefined
        : 'it refuses the retention of its namespace';
    }
  }
  return `it did not answer within ${READY_TIMEOUT_MS / 1000} s`;
}

async function succeeds(url: string, init: RequestInit = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function lastLine(log: string): string {
  const line = log.trim().split('\n').at(-1);
  return line === undefined || line === '' ? '' : ` (last line: ${line.slice(0, 300)})`;
}
