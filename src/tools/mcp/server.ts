import type { EffectClass } from '../../store/store.ts';
import { Refusal } from '../refusal.ts';
import { UnknownOutcome } from '../unknown-outcome.ts';
import { type CallOptions, connect, type McpCallResult, type McpConnection } from './connection.ts';
import { McpFailure, reasonOf } from './failure.ts';
import { type ServerSpecs, type SpecRules, serverSpecs } from './remote-spec.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Milliseconds from the start of a server to its session; `npx` may have to fetch it first. */
const START_MS = 60_000;
/** Milliseconds that a run waits for the tools of a server before it opens without them. */
const PATIENCE_MS = 10_000;
/** Milliseconds in which a server that failed is not tried again for a run that opens. */
const REST_MS = 15_000;
/** How often one call is sent at most. */
const MAX_SENDS = 3;
const MAX_LOG_LINE = 2000;

/** What servers do is logged here; pino's loggers fit. */
export interface McpLog {
  debug(fields: object): void;
  info(fields: object): void;
  warn(fields: object): void;
}

export interface McpServerDeps extends SpecRules {
  readonly log: McpLog;
  /** Default 10 s. */
  readonly patienceMs?: number;
  /** Default 15 s. */
  readonly restMs?: number;
}

/** What came of asking a server for its tools. */
export type Listing = ({ readonly ok: true } & ServerSpecs) | { readonly ok: false; readonly reason: string };

/** One server: a session that is opened when it is needed, used for all runs, and opened anew once lost. */
export interface McpServer {
  readonly settings: McpServerSettings;
  /** Its tools now; read anew only when they may have changed. Never rejects. */
  list(): Promise<Listing>;
  /**
   * Calls a tool; a session that was lost is opened first. A call whose session is lost under way is sent again if it
   * may be.
   *
   * @throws Refusal with a text for the model; UnknownOutcome when a call that must not be repeated may have been done;
   *   the signal's reason.
   */
  call(tool: string, args: object, effect: EffectClass, options: CallOptions): Promise<McpCallResult>;
  /** Ends the session, and the program with all that it started. */
  close(): Promise<void>;
}

export function createMcpServer(settings: McpServerSettings, deps: McpServerDeps): McpServer {
  const { name } = settings;
  const { log, redact, patienceMs = PATIENCE_MS, restMs = REST_MS } = deps;
  const ended = new AbortController();
  let session: Promise<McpConnection> | undefined;
  let listed: Promise<ServerSpecs> | undefined;
  let failure: { readonly reason: string; readonly at: number } | undefined;

  /** The session there is, or a new one. All who need one wait for the same. */
  function connected(): Promise<McpConnection> {
    session ??= open();
    return session;
  }

  function forget(): void {
    session = undefined;
    listed = undefined;
  }

  async function open(): Promise<McpConnection> {
    try {
      ended.signal.throwIfAborted();
      const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(START_MS)]);
      const connection = await connect(settings, signal, {
        onStderr: (line) => {
          log.info({ event: 'mcp.stderr', server: name, line: line.slice(0, MAX_LOG_LINE) });
        },
        onToolsChanged: () => {
          listed = undefined;
        },
        onLost: (why) => {
          log.warn({ event: 'mcp.lost', server: name, reason: why });
          forget();
        },
      });
      failure = undefined;
      log.info({ event: 'mcp.connected', server: name });
      return connection;
    } catch (error) {
      forget();
      throw fail(error);
    }
  }

  function fail(error: unknown): McpFailure {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    const reason = redact(late ? `it did not start within ${START_MS / 1000} s` : reasonOf(error));
    if (failure?.reason !== reason && !ended.signal.aborted) log.warn({ event: 'mcp.away', server: name, reason });
    failure = { reason, at: performance.now() };
    return new McpFailure('unsent', reason, { cause: error });
  }

  async function read(): Promise<ServerSpecs> {
    try {
      const connection = await connected();
      const tools = await connection.listTools(AbortSignal.any([ended.signal, AbortSignal.timeout(START_MS)]));
      const found = serverSpecs(name, tools, deps);
      if (found.leftOut.length > 0) {
        log.warn({ event: 'mcp.tools_left_out', server: name, tools: found.leftOut.map(redact) });
      }
      // Without notices of changes a list is good for one run.
      if (!connection.tellsChanges) listed = undefined;
      return found;
    } catch (error) {
      listed = undefined;
      throw error;
    }
  }

  async function list(): Promise<Listing> {
    if (failure !== undefined && performance.now() - failure.at < restMs) return { ok: false, reason: failure.reason };
    listed ??= read();
    const reading = listed;
    try {
      const found = await inTime(reading, patienceMs);
      failure = undefined;
      return { ok: true, ...found };
    } catch (error) {
      return { ok: false, reason: fail(error).message };
    }
  }

  async function call(tool: string, args: object, effect: EffectClass, options: CallOptions): Promise<McpCallResult> {
    for (let sends = 1; ; sends += 1) {
      const connection = await within(connected(), options.signal).catch((error) => {
        if (options.signal.aborted) throw options.signal.reason;
        throw new Refusal(`The server ${name} cannot be reached, so nothing was done: ${reasonOf(error)}`);
      });
      try {
        return await connection.callTool(tool, args, options);
      } catch (error) {
        if (!(error instanceof McpFailure)) throw error;
        await settle(error, connection, effect, sends < MAX_SENDS);
      }
    }
  }

  /** Returns when the call may be sent again. */
  async function settle(
    { code, message }: McpFailure,
    connection: McpConnection,
    effect: EffectClass,
    again: boolean,
  ): Promise<void> {
    const why = redact(message);
    if (code === 'answered') throw new Refusal(`The server ${name} refused the call: ${why}`);
    const repeatable = effect !== 'at_most_once';
    if (code !== 'unsent' && !repeatable) {
      throw new UnknownOutcome(
        `The connection to the server ${name} was lost while the call ran: ${why}. It may or may not have been done: check before trying again.`,
      );
    }
    if (code === 'unusable') throw new Refusal(`The answer of the server ${name} cannot be used: ${why}`);
    if (!again) throw new Refusal(`The server ${name} failed again and again: ${why}`);
    await renew(connection);
  }

  /** Gives up a session that does not work any more, unless somebody else has already. */
  async function renew(connection: McpConnection): Promise<void> {
    const current = await session?.catch(() => undefined);
    if (current === connection) forget();
    await connection.close();
  }

  return {
    settings,
    list,
    call,
    async close() {
      ended.abort(new Error('the worker is shutting down'));
      const connection = await session?.catch(() => undefined);
      await connection?.close();
    },
  };

  function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`it has not answered within ${ms / 1000} s`)), ms);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
