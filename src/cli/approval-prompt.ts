import type { HoldfastClient } from '../client/holdfast-client.ts';
import type { ApprovalResolution } from '../contract/messages.ts';
import type { AgentEvent, RecordedEvent } from '../transcript/events.ts';
import type { JsonObject } from '../transcript/json.ts';
import { answerCommands, argumentLines } from './render/approval-lines.ts';
import { visibleLine } from './render/visible.ts';
import { userName } from './user-name.ts';

type Asked = Extract<AgentEvent, { type: 'approval_requested' }>;

export interface PromptOptions {
  readonly client: Pick<HoldfastClient, 'store' | 'resolveApproval'>;
  readonly sessionId: string;
  /** Shows a line, harmless already. */
  readonly note: (line: string) => void;
  /** Calls back for each key that is pressed, until the returned function is called; absent: nobody can press any. */
  readonly keys?: (pressed: (key: string) => void) => () => void;
}

const KEYS: Readonly<Record<string, ApprovalResolution['decision']>> = {
  y: 'approve',
  n: 'deny',
  s: 'approve_session',
};

/**
 * Passes a run's events on. Of a call that waits for an approval it tells the command that answers, or asks at once where
 * somebody can press a key: one call after the other, until each is decided, here or elsewhere.
 */
export async function* withApprovals(
  events: AsyncIterable<RecordedEvent>,
  options: PromptOptions,
): AsyncGenerator<RecordedEvent> {
  const prompt = new ApprovalPrompt(options);
  try {
    for await (const recorded of events) {
      // First the line of the event itself, then ours.
      yield recorded;
      await prompt.see(recorded.event);
    }
  } finally {
    prompt.close();
  }
}

class ApprovalPrompt {
  readonly #options: PromptOptions;
  readonly #arguments = new Map<string, JsonObject>();
  #waiting: readonly Asked[] = [];
  #asking: string | undefined;
  #stopKeys: (() => void) | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
  }

  async see(event: AgentEvent): Promise<void> {
    if (event.type === 'tool_call_requested') this.#arguments.set(event.callId, event.arguments);
    if (event.type === 'approval_resolved') this.#drop(event.callId);
    if (event.type === 'approval_requested' && (await this.#isOpen(event))) this.#waiting = [...this.#waiting, event];
    if (this.#waiting.length > 0) this.#ask();
  }

  close(): void {
    this.#stopKeys?.();
    this.#stopKeys = undefined;
  }

  async #isOpen({ callId }: Asked): Promise<boolean> {
    const open = await this.#options.client.store.openApprovals(this.#options.sessionId);
    return open.some((approval) => approval.callId === callId);
  }

  #ask(): void {
    const { note, keys, sessionId } = this.#options;
    if (keys === undefined) {
      for (const { callId } of this.#waiting) note(`Answer with: ${answerCommands(sessionId, callId)}`);
      this.#waiting = [];
      return;
    }
    const [next] = this.#waiting;
    if (next === undefined || this.#asking === next.callId) return;
    this.#asking = next.callId;
    for (const line of argumentLines(this.#arguments.get(next.callId) ?? {}, false)) note(`  ${line}`);
    note(`Run it? y: yes · n: no · s: yes, and ${next.name} for the whole session`);
    this.#stopKeys ??= keys((key) => this.#pressed(key));
  }

  #pressed(key: string): void {
    const decision = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    const [asked] = this.#waiting;
    if (decision === undefined || asked === undefined) return;
    const { callId, argumentsHash } = asked;
    this.#drop(callId);
    const { client, sessionId, note } = this.#options;
    client
      .resolveApproval(sessionId, { callId, argumentsHash, decision, by: userName() })
      .catch((error) => note(visibleLine(error instanceof Error ? error.message : String(error), 200)));
    if (this.#waiting.length > 0) this.#ask();
  }

  #drop(callId: string): void {
    this.#waiting = this.#waiting.filter((asked) => asked.callId !== callId);
    if (this.#asking === callId) this.#asking = undefined;
    if (this.#waiting.length === 0) this.close();
  }
}

/** Single keys from the terminal; `undefined` where there is none. Ctrl-C stays what it is. */
export function terminalKeys(): PromptOptions['keys'] {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  return (pressed) => {
    const listen = (bytes: Buffer): void => {
      const key = bytes.toString('utf8');
      if (key === '\u0003') process.kill(process.pid, 'SIGINT');
      else pressed(key.toLowerCase());
    };
    stdin.setRawMode(true).resume().on('data', listen);
    return () => {
      stdin.off('data', listen).setRawMode(false).pause();
    };
  };
}
