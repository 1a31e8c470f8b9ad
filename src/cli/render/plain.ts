import { closing } from './closing.ts';
import { notice } from './notices.ts';
import type { Renderer, Sinks } from './renderer.ts';
import { endOfCall, RunningCalls } from './tool-lines.ts';
import { visible, visibleLine } from './visible.ts';

/**
 * For files and pipes: the answer alone on `out`, everything else as lines on `err`. No ANSI, nothing is taken back.
 */
export function plainRenderer({ out, err }: Sinks, now: () => number): Renderer {
  const started = now();
  const calls = new RunningCalls();
  return {
    event: ({ event }) => {
      switch (event.type) {
        case 'run_started':
          return err(`${visibleLine(event.model, 80)}\n`);
        case 'assistant_message_done':
          // The last one comes again as the answer.
          return event.stopReason.unified === 'tool_calls' ? err(`${visible(event.text).trimEnd()}\n`) : undefined;
        case 'tool_call_requested':
          calls.requested(event.callId, event.name, event.label);
          return err(`→ ${calls.label(event.callId, event.name)}\n`);
        case 'tool_call_completed':
          return err(`✓ ${endOfCall(event, calls.label(event.callId, event.name))}\n`);
        case 'tool_call_failed':
          return err(`✗ ${endOfCall(event, calls.label(event.callId, event.name))}\n`);
        case 'final_response':
          out(`${visible(event.text).trimEnd()}\n`);
          return err(`${closing(event, now() - started)}\n`);
        case 'loop_aborted':
        case 'run_failed':
          return err(`${closing(event, now() - started)}\n`);
        default: {
          // Not assertNever: notices rule on every other event.
          const line = notice(event);
          return line === null ? undefined : err(`${line}\n`);
        }
      }
    },
    tick: () => {},
    note: (line) => err(`${line}\n`),
    end: (link) => (link === undefined ? undefined : err(`${link}\n`)),
  };
}
