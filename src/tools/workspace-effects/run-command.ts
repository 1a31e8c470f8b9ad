import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { endGroup, guardGroup, signalGroup } from '../process-groups.ts';
import { Refusal, shown } from '../refusal.ts';
import type { Tool, ToolOutput } from '../tool.ts';
import { createBoundedOutput } from './bounded-output.ts';
import type { EffectDeps } from './effect-tools.ts';

const DEFAULT_SECS = 120;
const MAX_SECS = 600;
/** Milliseconds between the request to end and the end; the runner itself leaves a tool behind after 2 s. */
const KILL_AFTER_MS = 1000;
/** Milliseconds that output may still come after the command itself has ended. */
const DRAIN_MS = 250;

const input = z
  .object({
    command: z.string().min(1).optional().describe('A line for the shell (`sh -c`).'),
    args: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Program and arguments, run without a shell: nothing in them is interpreted.'),
    cwd: z.string().optional().describe('Folder to run in, from the workspace root. Default: the root.'),
    timeoutSecs: z.number().positive().max(MAX_SECS).optional().describe(`Default ${DEFAULT_SECS}.`),
  })
  .refine(({ command, args }) => (command === undefined) !== (args === undefined), 'give either command or args');
type Command = z.output<typeof input>;

/** The tool `run_command`: runs a program in the workspace and gives what it printed and how it ended. */
export function createRunCommand({ workspace, policy, environment, redact }: EffectDeps): Tool {
  return defineTool({
    name: 'run_command',
    description:
      'Runs a command in the workspace without a terminal and gives its output (stdout and stderr as they came) and exit code. It and everything it started is ended when it returns, when its time is up and on cancel.',
    input,
    annotations: {
      title: 'Run command',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    resultSemantic: 'mixed',
    timeoutSecs: MAX_SECS + 5,
    exclusive: true,
    label: (command) => `run_command ${command.command ?? (command.args ?? []).map(quoted).join(' ')}`,
    execute: async (command, { signal, progress }) => {
      if ([command.command, ...(command.args ?? [])].some((part) => part?.includes('\0'))) {
        throw new Refusal('A command holds no NUL character.');
      }
      const place = await workspace.locate(command.cwd ?? '.');
      await policy.requireReadable(place, true);
      if (!(await stat(place.real)).isDirectory())
        throw new Refusal(`${shown(command.cwd ?? '.')}: this is no folder.`);
      progress(`running ${(command.command ?? command.args?.join(' ') ?? '').slice(0, 150)}`);
      const ended = await run(command, { cwd: place.real, env: environment, signal });
      return report(redact(ended.output), ended, command);
    },
  });
}

interface Ended {
  readonly output: string;
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly stopped: 'timeout' | 'cancel' | undefined;
}

interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Runs it in a process group of its own, and ends that group in every case. */
async function run(command: Command, { cwd, env, signal }: RunOptions): Promise<Ended> {
  const [program = '', ...args] = command.args ?? ['/bin/sh', '-c', command.command ?? ''];
  const output = createBoundedOutput();
  let stopped: Ended['stopped'];
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  guardGroup(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.add(chunk));

  let force: NodeJS.Timeout | undefined;
  const stop = (why: 'timeout' | 'cancel'): void => {
    if (stopped !== undefined) return;
    stopped = why;
    signalGroup(child, 'SIGTERM');
    force = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS);
  };
  const onAbort = (): void => stop('cancel');
  const timer = setTimeout(() => stop('timeout'), (command.timeoutSecs ?? DEFAULT_SECS) * 1000);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const { code, killedBy } = await exit(child, program);
    return { output: output.text(), code, killedBy, stopped };
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    signal.removeEventListener('abort', onAbort);
    // What it left in the background would outlive the run that answers for it.
    endGroup(child);
  }
}

/** Resolves when the command has ended and its output has come; a background process that keeps the pipes open is not waited for. */
function exit(child: ChildProcess, program: string): Promise<Pick<Ended, 'code' | 'killedBy'>> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      reject(
        new Refusal(missing ? `There is no program ${shown(program)}.` : `It could not be started: ${error.message}`, {
          cause: error,
        }),
      );
    });
    child.once('exit', (code, killedBy) => {
      const drained = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve({ code, killedBy });
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(drained);
        resolve({ code, killedBy });
      });
    });
  });
}

function report(
  output: string,
  { code, killedBy, stopped }: Ended,
  { timeoutSecs = DEFAULT_SECS }: Command,
): ToolOutput {
  const end =
    stopped === 'timeout'
      ? `[ended after ${timeoutSecs} s: its time was up]`
      : stopped === 'cancel'
        ? '[ended because the call was cancelled]'
        : killedBy === null
          ? `[exit code ${code}]`
          : `[ended by ${killedBy}]`;
  const text = output === '' || output.endsWith('\n') ? output : `${output}\n`;
  return { content: [{ type: 'text', text: `${text}${end}` }], isError: stopped !== undefined || code !== 0 };
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : JSON.stringify(arg);
}
