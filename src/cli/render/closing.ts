import type { AgentEvent } from '../../transcript/events.ts';
import { duration, price, tokens } from './quantities.ts';
import { visible, visibleLine } from './visible.ts';

export type TerminalEvent = Extract<AgentEvent, { type: 'final_response' | 'loop_aborted' | 'run_failed' }>;

/** How the run ended, in one or two lines. */
export function closing(event: TerminalEvent, elapsedMs: number): string {
  switch (event.type) {
    case 'final_response': {
      const parts = [
        `${event.steps} ${event.steps === 1 ? 'step' : 'steps'}`,
        duration(elapsedMs),
        tokens(event.usage),
        ...(event.costUsd === null || event.costUsd === 0 ? [] : [price(event.costUsd)]),
        ...(event.truncated === true ? ['cut off at the output limit'] : []),
      ];
      return parts.join(' · ');
    }
    case 'loop_aborted':
      return `cancelled after ${duration(elapsedMs)}: ${visibleLine(event.reason, 200)}`;
    case 'run_failed':
      return `${visibleLine(event.error, 60)}: ${visible(event.message).trim()}\n${visible(event.hint).trim()}`.trim();
  }
}
