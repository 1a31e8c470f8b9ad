import { type Logger, pino } from 'pino';
import { createRedactor } from './redaction.ts';

/**
 * The names under which things are logged (field `event`). A closed list: dashboards and alerts depend on it. The dotted
 * ones with underscores keep the names that operators of such agents know.
 */
export const LOG_EVENTS = [
  'session_runner.history_context_built',
  'provider.openai_compatible.serialized_protocol',
  'provider.openai_compatible.dropped_incomplete_tool_transcript',
  'provider.openai_compatible.dropped_orphan_tool_messages',
  'provider.openai_compatible.sanitized_tool_transcript',
  'agent_loop.terminal_without_tool_calls',
  'run.opened',
  'run.closed',
  'model.called',
  'model.failed',
  'tool.called',
  'hook.failed',
  'compaction.completed',
  'compaction.failed',
  'mcp.connected',
  'mcp.lost',
  'mcp.away',
  'mcp.tools_left_out',
  'mcp.stderr',
  'worker.started',
  'worker.stopped',
] as const;

export interface LoggerOptions {
  /** Absolute path (its folder is made, lines are appended), or the standard error. */
  readonly destination: { readonly file: string } | 'stderr';
  /** Default `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Values that must not appear in any encoding. */
  readonly secrets?: readonly string[];
}

/** A pino logger that writes JSON lines without secrets, ISO times, synchronously: what was logged survives a crash. */
export function createLogger({ destination, level = 'info', secrets = [] }: LoggerOptions): Logger {
  const target = destination === 'stderr' ? { dest: 2 } : { dest: destination.file, mkdir: true, append: true };
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Objects of vendors' clients carry headers: fields of these names go before anything is written.
      redact: {
        paths: ['*.headers.authorization', '*.headers["x-api-key"]', 'headers.authorization', 'headers["x-api-key"]'],
      },
      hooks: { streamWrite: createRedactor(secrets) },
    },
    pino.destination({ ...target, sync: true }),
  );
}
