import type { AgentEvent, RecordedEvent } from '../../transcript/events.ts';
import { closing, type TerminalEvent } from './closing.ts';
import { notice } from './notices.ts';
import { count, duration } from './quantities.ts';
import type { Renderer } from './renderer.ts';
import type { Flow } from './screen.ts';
import { StreamedText } from './streamed-text.ts';
import { endOfCall, RunningCalls } from './tool-lines.ts';
import { visibleLine } from './visible.ts';

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
/** Characters of prose a token, for the count of what is not yet billed. */
const CHARACTERS_PER_TOKEN = 4;

export interface PrettyOptions {
  readonly screen: Flow;
  /** Milliseconds. */
  readonly now: () => number;
  /** Rows of the terminal. */
  readonly rows: () => number;
}

/** For a person at a terminal: text as it arrives, a line a tool call, and a live line of what goes on. */
export function prettyRenderer(options: PrettyOptions): Renderer {
  const view = new PrettyView(options);
  return {
    event: (recorded) => view.event(recorded),
    tick: () => view.tick(),
    note: (line) => options.screen.line(line, 'yellow'),
    end: (link) => view.end(link),
  };
}

class PrettyView {
  readonly #screen: Flow;
  readonly #now: () => number;
  readonly #rows: () => number;
  readonly #started: number;
  readonly #text = new StreamedText();
  readonly #calls = new RunningCalls();
  #activity = 'waiting for a worker';
  #step = 0;
  #tokens = 0;
  #pendingCharacters = 0;
  #frame = 0;
  #over = false;

  constructor({ screen, now, rows }: PrettyOptions) {
    this.#screen = screen;
    this.#now = now;
    this.#rows = rows;
    this.#started = now();
  }

  event({ event }: RecordedEvent): void {
    if ('step' in event) this.#step = event.step;
    switch (event.type) {
      case 'run_started':
        this.#activity = `waiting for ${visibleLine(event.model, 60)}`;
        break;
      case 'assistant_text_delta':
        this.#pendingCharacters += event.text.length;
        if (this.#text.shown === '') this.#screen.freshLine();
        this.#text.append(event.step, event.text);
        this.#screen.flow(event.text);
        this.#activity = 'writing';
        break;
      case 'reasoning_delta':
        this.#pendingCharacters += event.text.length;
        this.#activity = 'thinking';
        break;
      case 'assistant_message_done':
        this.#messageDone(event);
        break;
      case 'tool_call_requested':
        this.#calls.requested(event.callId, event.name, event.label);
        break;
      case 'tool_call_started':
        this.#calls.started(event.callId);
        break;
      case 'tool_call_completed':
      case 'tool_call_failed':
        this.#callEnded(event);
        break;
      case 'model_attempt_restarted':
        this.#restarted(event);
        break;
      case 'final_response':
      case 'loop_aborted':
      case 'run_failed':
        this.#ended(event);
        break;
      default: {
        // Not assertNever: notices rule on every other event.
        if (event.type === 'approval_requested') this.#activity = 'waiting for an approval';
        const line = notice(event);
        if (line !== null) this.#screen.line(line, 'yellow');
      }
    }
    this.tick();
  }

  tick(): void {
    if (this.#over) return;
    this.#frame = (this.#frame + 1) % SPINNER.length;
    const running = this.#calls.now();
    const activity = running.length > 0 ? running.join(', ') : this.#activity;
    const tokens = this.#tokens + this.#pendingCharacters / CHARACTERS_PER_TOKEN;
    const parts = [`step ${this.#step}`, duration(this.#now() - this.#started), `${count(tokens)} tokens`, activity];
    this.#screen.status(`${SPINNER[this.#frame]} ${parts.join(' · ')}`);
  }

  end(link: string | undefined): void {
    this.#over = true;
    this.#screen.freshLine();
    this.#screen.status('');
    if (link !== undefined) this.#screen.line(link, 'dim');
  }

  #messageDone(event: Extract<AgentEvent, { type: 'assistant_message_done' }>): void {
    this.#pendingCharacters = 0;
    this.#tokens += (event.usage?.inputTokens ?? 0) + (event.usage?.outputTokens ?? 0);
    const shown = this.#text.shown;
    const finished = this.#text.finish(event.step, event.text);
    if (finished === 'mismatch') {
      this.#takeBack(shown, 'the text above was given up');
      this.#screen.flow(event.text);
    } else this.#screen.flow(finished.rest);
    this.#screen.freshLine();
    this.#activity = 'waiting for the model';
  }

  #callEnded(event: Extract<AgentEvent, { type: 'tool_call_completed' | 'tool_call_failed' }>): void {
    this.#calls.ended(event.callId);
    const failed = event.type === 'tool_call_failed';
    const mark = this.#screen.styled(failed ? '✗' : '✓', failed ? 'red' : 'green');
    this.#screen.line(`${mark} ${endOfCall(event, this.#calls.label(event.callId, event.name))}`);
    this.#activity = 'waiting for the model';
  }

  #restarted(event: Extract<AgentEvent, { type: 'model_attempt_restarted' }>): void {
    this.#pendingCharacters = 0;
    this.#takeBack(this.#text.drop(), 'the text above is void');
    this.#screen.line(notice(event) ?? '', 'yellow');
  }

  #takeBack(text: string, otherwise: string): void {
    if (text !== '' && !this.#screen.takeBack(text, this.#rows())) this.#screen.line(`(${otherwise})`, 'yellow');
  }

  #ended(event: TerminalEvent): void {
    this.#over = true;
    if (event.type === 'final_response' && event.text !== this.#text.shown) {
      this.#screen.freshLine();
      this.#screen.flow(event.text);
    }
    this.#screen.freshLine();
    this.#screen.status('');
    const text = closing(event, this.#now() - this.#started);
    if (event.type === 'final_response') this.#screen.line(`\n${text}`, 'dim');
    else this.#screen.line(text, event.type === 'run_failed' ? 'red' : 'yellow');
  }
}
