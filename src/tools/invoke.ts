import type { ToolResultStatus } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import { effectClass } from './effect-class.ts';
import { failure, outputOf } from './output.ts';
import { type Output, textBlock } from './output-block.ts';
import { thrownText } from './thrown-text.ts';
import type { Tool, ToolContext, ToolOutputBlock } from './tool.ts';
import { UnknownOutcome } from './unknown-outcome.ts';

/** Milliseconds that a tool has to come back once its signal was aborted; then it is left behind. */
const GRACE_MS = 2000;
const DEFAULT_TIMEOUT_SECS = 60;

/** How a call ended, as the model will read it. */
export interface Invocation {
  readonly status: Extract<
    ToolResultStatus,
    'ok' | 'error' | 'timed_out' | 'cancelled' | 'aborted' | 'unknown_outcome'
  >;
  /** At least one block; texts are never empty. */
  readonly blocks: readonly ToolOutputBlock[];
  readonly isError: boolean;
  /** Whether the tool's function was started at all: not with arguments that do not fit. */
  readonly executed: boolean;
}

export interface InvokeOptions {
  /** Default: the tool's own timeout, else 60 s. */
  readonly timeoutMs?: number;
  /** Default 2 s. */
  readonly graceMs?: number;
}

/**
 * Runs one call and always resolves: a tool that throws, hangs or returns nonsense gives a result for the model.
 *
 * The tool's signal aborts when `context.signal` does (then the status is `cancelled`) and when its time is up
 * (`timed_out`). A tool that ignores its signal is left behind after {@link InvokeOptions.graceMs}; what it still does
 * or throws is dropped. Whether arguments fit is checked here, so `execute` never sees others.
 */
export async function runTool(
  tool: Tool,
  args: JsonObject,
  context: ToolContext,
  options: InvokeOptions = {},
): Promise<Invocation> {
  const parsed = parsedSafely(tool, args);
  if (!parsed.ok) return { ...invalidArguments(tool.name, parsed.message), executed: false };
  if (context.signal.aborted) {
    const blocks = [textBlock('Not started: the run was cancelled first.')];
    return { status: 'aborted', blocks, isError: true, executed: false };
  }

  const timeoutMs = options.timeoutMs ?? (tool.timeoutSecs ?? DEFAULT_TIMEOUT_SECS) * 1000;
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(timeoutReason(timeoutMs)), Math.min(timeoutMs, 2 ** 31 - 1));
  const signal = AbortSignal.any([context.signal, clock.signal]);
  try {
    const work = start(tool, parsed.value, { ...context, signal });
    const output = await settled(work, signal, options.graceMs ?? GRACE_MS);
    if (output?.unknown === true) {
      return { status: 'unknown_outcome', blocks: output.blocks, isError: true, executed: true };
    }
    if (!signal.aborted) return { ...ended(output ?? failure('The tool gave no result.')), executed: true };
    const status = context.signal.aborted ? 'cancelled' : 'timed_out';
    return { ...stopped(status, tool, output, timeoutMs), executed: true };
  } finally {
    clearTimeout(timer);
  }
}

/** The result for a call whose arguments do not fit; the tool does not run. */
function invalidArguments(name: string, message: string): Omit<Invocation, 'executed'> {
  return ended(failure(`Invalid arguments for ${name}; the tool was not run.\n${message}`));
}

/** `parse` promises not to throw; a tool made by hand may break that. */
function parsedSafely(tool: Tool, args: JsonObject): ReturnType<Tool['parse']> {
  try {
    return tool.parse(args);
  } catch (error) {
    return { ok: false, message: `input: ${thrownText(error)}` };
  }
}

/** `unknown`: the tool cannot tell whether it did what it was asked. */
type Started = Output & { readonly unknown?: true };

/** Calls the function; whatever it throws becomes output, so the promise never rejects. */
async function start(tool: Tool, value: unknown, context: ToolContext): Promise<Started> {
  try {
    return await outputOf(await tool.execute(value, context));
  } catch (error) {
    if (context.signal.aborted && error === context.signal.reason) return failure('It stopped when it was told to.');
    if (error instanceof UnknownOutcome) return { ...failure(error.message), unknown: true };
    return failure(thrownText(error));
  }
}

/** The output, or `undefined` when none came within the grace that begins with the abort. */
function settled(work: Promise<Started>, signal: AbortSignal, graceMs: number): Promise<Started | undefined> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      grace = setTimeout(() => resolve(undefined), graceMs);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    void work.then((output) => {
      clearTimeout(grace);
      signal.removeEventListener('abort', onAbort);
      resolve(output);
    });
  });
}

function ended(output: Output): Omit<Invocation, 'executed'> {
  return { status: output.isError ? 'error' : 'ok', ...output };
}

function timeoutReason(timeoutMs: number): DOMException {
  return new DOMException(`no result within ${timeoutMs / 1000} s`, 'TimeoutError');
}

function stopped(
  status: 'timed_out' | 'cancelled',
  tool: Tool,
  output: Output | undefined,
  timeoutMs = 0,
): Omit<Invocation, 'executed'> {
  const what = status === 'timed_out' ? `Timed out after ${timeoutMs / 1000} s` : 'Cancelled while it ran';
  const effects =
    effectClass(tool) === 'read_only' ? '' : ' It may or may not have had its effects: check before trying again.';
  const came = output === undefined ? 'there is no output' : 'its output up to then follows';
  return {
    status,
    blocks: [textBlock(`${what}; ${came}.${effects}`), ...(output?.blocks ?? [])],
    isError: true,
  };
}
