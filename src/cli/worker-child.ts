import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { HoldfastError, isHoldfastErrorCode } from '../contract/errors.ts';
import { endGroup, killGroupNow } from '../devserver/process-group.ts';
import { identityOf } from '../devserver/process-identity.ts';
import { ensureStateDir } from './state-dir.ts';

const WORKER_PROGRAM = fileURLToPath(new URL('../../worker.js', import.meta.url));
/** The worker lets activities finish or hands them over within this. */
const STOP_GRACE_MS = 12_000;

export interface WorkerChildOptions {
  readonly folder: string;
  /** State folder, gets `logs/worker.log`. */
  readonly stateDir: string;
  /** What the worker finds in its environment beside ours. */
  readonly env: Readonly<Record<string, string>>;
}

/** The model that its agents use when they name none, and why that one. */
export interface ReadyWorker {
  readonly model: string;
  readonly reason: string;
}

export interface WorkerChild {
  readonly logFile: string;
  /** Resolves when it polls; rejects with why it does not. */
  readonly ready: Promise<ReadyWorker>;
  /** Resolves when it has ended, with its exit code (`null`: by a signal). */
  readonly ended: Promise<number | null>;
  readonly stop: () => Promise<void>;
  readonly killNow: () => void;
}

/**
 * Starts a worker in a process group of its own: a terminal's Ctrl-C does not reach it, so a run can be cancelled in
 * good order while it still works. Its standard input is a pipe that ends when we do, however that comes about.
 */
export function startWorkerChild({ folder, stateDir, env }: WorkerChildOptions): WorkerChild {
  ensureStateDir(stateDir);
  const logDir = join(stateDir, 'logs');
  mkdirSync(logDir, { recursive: true });
  const logFile = join(logDir, 'worker.log');
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [WORKER_PROGRAM], {
    cwd: folder,
    env: { ...process.env, ...env, HOLDFAST_FOLDER: folder, HOLDFAST_PARENT: 'pipe' },
    stdio: ['pipe', 'pipe', log],
    detached: true,
  });
  closeSync(log);
  child.stdin?.on('error', () => {});
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ready = untilReady(child, logFile);
  // Whoever does not wait for it must not be ended by it.
  ready.catch(() => {});
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  return {
    logFile,
    ready,
    ended,
    stop: async () => (identity === undefined ? undefined : endGroup(identity, STOP_GRACE_MS)),
    killNow: () => (identity === undefined ? undefined : killGroupNow(identity)),
  };
}

/** The worker says on its standard output, as JSON lines, `{ready: true, model, reason}` or `{error: {code, message, hint?}}`. */
function untilReady(child: ChildProcess, logFile: string): Promise<ReadyWorker> {
  return new Promise((resolve, reject) => {
    let said: HoldfastError | undefined;
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const message = parsed(line);
        if (message?.ready === true) resolve({ model: String(message.model), reason: String(message.reason) });
        said ??= errorOf(message?.error);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => {
      const why = `the worker ended (${code === null ? 'by a signal' : `code ${code}`}) before it was ready`;
      reject(said ?? new HoldfastError('Internal', `${why}${lastWord(logFile)}`, { hint: `Its log is ${logFile}.` }));
    });
  });
}

function errorOf(error: unknown): HoldfastError | undefined {
  if (!isRecord(error) || typeof error.message !== 'string') return undefined;
  const code = String(error.code);
  const hint = typeof error.hint === 'string' ? { hint: error.hint } : {};
  return new HoldfastError(isHoldfastErrorCode(code) ? code : 'Internal', error.message, hint);
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // Something that a tool's library printed.
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The log's last error, else its last line. */
function lastWord(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  const line = lines.findLast((candidate) => /^(\w*Error|\w*Exception)\b/.test(candidate)) ?? lines.at(-1);
  return line === undefined || line === '' ? '' : `: ${line.slice(0, 300)}`;
}
