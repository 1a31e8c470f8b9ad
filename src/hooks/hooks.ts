import type { AgentEvent } from '../transcript/events.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { MessageRequest } from '../transcript/message.ts';

/** The moments at which hooks are called. */
export const HOOK_POINTS = [
  'beforeModel',
  'afterModel',
  'beforeTool',
  'afterTool',
  'beforeCompaction',
  'afterCompaction',
  'onError',
  'onRunEnd',
] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

/** What a hook is told. What does not belong to its moment is absent. */
export interface HookContext {
  readonly sessionId: string;
  readonly runId: string;
  /** The request that goes or went to the model. */
  readonly request?: MessageRequest;
  readonly error?: unknown;
  /** From 1. */
  readonly attempt: number;
  /** Step of the run, from 0. */
  readonly turnIndex?: number;
  /** Step of the plan that the agent follows, from 0; absent when it keeps none. */
  readonly planStepIndex?: number;
  /** The call, at the two moments around a tool. */
  readonly tool?: { readonly callId: string; readonly name: string; readonly arguments: JsonObject };
  /** What the moment is about: an outcome, a status, token counts. */
  readonly detail?: JsonObject;
  /** Aborted when the hook's time is up. */
  readonly signal: AbortSignal;
}

/** Keeps a tool from running. The model is shown the reason. */
export interface Veto {
  readonly veto: string;
}

/** Code of the user that observes runs. It runs in activities, may run again with a retry, and cannot break a run. */
export interface Hook {
  /** Shown when it fails. */
  readonly name: string;
  /** Milliseconds for each call; default 5,000. */
  readonly timeoutMs?: number;
  readonly on: Partial<Readonly<Record<HookPoint, HookFunction>>>;
}

/** May be asynchronous. Of what hooks return only a {@link Veto} counts, and only from `beforeTool`. */
export type HookFunction = (context: HookContext) => unknown;

/** What came of calling all hooks of one moment. */
export interface HookOutcome {
  /** The first veto, with the hook that gave it. */
  readonly veto?: { readonly hook: string; readonly reason: string };
  /** One for each hook that threw or took too long. */
  readonly events: readonly Extract<AgentEvent, { type: 'hook_failed' }>[];
}

const DEFAULT_TIMEOUT_MS = 5000;
const MAX_MESSAGE = 500;

/** Calls the hooks of one moment, one after the other in their order. Never rejects. A veto ends the round. */
export async function runHooks(
  hooks: readonly Hook[],
  point: HookPoint,
  context: Omit<HookContext, 'signal'>,
): Promise<HookOutcome> {
  const events: HookOutcome['events'][number][] = [];
  for (const hook of hooks) {
    const call = hook.on[point];
    if (call === undefined) continue;
    const { returned, failure } = await runHook(hook, call, context);
    if (failure !== undefined) {
      events.push({ type: 'hook_failed', hook: `${hook.name}.${point}`, message: failure.slice(0, MAX_MESSAGE) });
    }
    const reason = point === 'beforeTool' ? vetoIn(returned) : undefined;
    if (reason !== undefined) return { veto: { hook: hook.name, reason }, events };
  }
  return { events };
}

interface Called {
  readonly returned?: unknown;
  readonly failure?: string;
}

/** One call, contained: what it throws is told, and past its time it is left behind. */
async function runHook(hook: Hook, call: HookFunction, context: Omit<HookContext, 'signal'>): Promise<Called> {
  const timeoutMs = hook.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const clock = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Called>((resolve) => {
    timer = setTimeout(() => {
      resolve({ failure: `took longer than ${timeoutMs} ms` });
      clock.abort(new DOMException('the time of this hook is up', 'TimeoutError'));
    }, timeoutMs);
  });
  const working = (async (): Promise<Called> => {
    try {
      return { returned: await call({ ...context, signal: clock.signal }) };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  })();
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}

function vetoIn(returned: unknown): string | undefined {
  if (typeof returned !== 'object' || returned === null || !('veto' in returned)) return undefined;
  return typeof returned.veto === 'string' && returned.veto.trim() !== '' ? returned.veto : 'no reason was given';
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`;
  } catch {
    return 'threw a value that cannot be read';
  }
}
