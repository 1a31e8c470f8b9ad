import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { claimNamespace } from '../setup/claim-namespace.ts';

/** What the offline model finds the answer to in each {@link Workspace}. */
export const QUESTION = 'Where is the retry policy decided?';
export const ANSWER = /retry\.md:3/;

const HOLDFAST = join(import.meta.dirname, '../../bin/holdfast.mjs');

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves once the text stands in what was printed so far. */
  readonly printed: (text: string | RegExp) => Promise<void>;
}

/** A folder to work on, with real processes of the real command line. Nothing of our own environment reaches them. */
export class Workspace {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-cli-')));
  readonly env: Record<string, string>;

  constructor(env: Record<string, string> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    this.env = { PATH, HOME, HOLDFAST_MODEL: 'offline/extractive', ...env };
    writeFileSync(join(this.folder, 'retry.md'), '# Retries\n\nThe retry policy is decided in `retry.md`.\n');
  }

  /** `input`: lines of its standard input, which ends after them. */
  start(args: readonly string[], env: Record<string, string> = {}, input: readonly string[] = []): Running {
    const child = spawn(process.execPath, [HOLDFAST, ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => {}); // It ended before it read all of it.
    child.stdin.end(input.map((line) => `${line}\n`).join(''));
    let out = '';
    let err = '';
    const listeners = new Set<() => void>();
    const heard = (): void => {
      for (const listener of listeners) listener();
    };
    child.stdout.on('data', (data: Buffer) => {
      out += data;
      heard();
    });
    child.stderr.on('data', (data: Buffer) => {
      err += data;
      heard();
    });
    const finished = new Promise<Finished>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
    const printed = (text: string | RegExp): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof text === 'string' ? (out + err).includes(text) : text.test(out + err)) resolve();
        };
        listeners.add(look);
        look();
        void finished.then(() => reject(new Error(`it ended without ${text}:\n${out}\n${err}`)));
      });
    return { child, finished, printed };
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    return this.start(args, env).finished;
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /** Processes that somebody started for this folder and that still run: all of them name it. */
  leftovers(): readonly string[] {
    const list = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    const named = list.filter((line) => line.includes(this.folder));
    return [...named, ...list.filter((line) => this.#worksHere(line))];
  }

  #worksHere(line: string): boolean {
    const pid = line.trim().split(' ')[0] ?? '';
    if (!line.includes('worker.js') || !existsSync(`/proc/${pid}/environ`)) return false;
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOLDFAST_FOLDER=${this.folder}`);
  }

  dispose(): void {
    for (const line of this.leftovers()) {
      const pid = Number(line.trim().split(' ')[0]);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The settings of a Temporal server that somebody else started: a namespace of the tests' own. */
export function externalServer(): Record<string, string> {
  const { address, claims } = inject('temporal');
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: claimNamespace(claims) };
}

/** Output of `--output ndjson`: the recorded events, and others whose `index` is null. */
export function jsonLines(out: string): { readonly type: string; readonly index: number | null }[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
