import type { ApprovalRequest } from '../../client/approvals.ts';
import type { HoldfastClient } from '../../client/holdfast-client.ts';
import { workflowIdOf } from '../../contract/identity.ts';
import type { ApprovalResolution } from '../../contract/messages.ts';
import { assertNever } from '../../transcript/assert-never.ts';
import { unmistakable } from '../../transcript/unmistakable.ts';
import { chosen } from '../commands/decide.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failureOf } from '../failure.ts';
import { argumentLines } from '../render/approval-lines.ts';
import { resultLine } from '../render/compaction.ts';
import type { Renderer } from '../render/renderer.ts';
import type { STYLE } from '../render/screen.ts';
import { visible } from '../render/visible.ts';
import { renderRun } from '../render-run.ts';
import { spentInAll, spentLine, subagentsOf } from '../session-tree.ts';
import { userName } from '../user-name.ts';
import { watchTrouble } from '../watch-trouble.ts';
import { type ChatLine, denial, HELP } from './read-line.ts';

const LOOK_EVERY_MS = 400;

export interface ConversationOptions {
  readonly client: HoldfastClient;
  readonly sessionId: string;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** A renderer for one run. */
  readonly renderer: () => Renderer;
  /** Lines of ours to the person, harmless already. */
  readonly tell: (lines: string, style?: keyof typeof STYLE) => void;
}

/** A session as somebody talks in it: sends, follows the runs that answer, decides on calls that wait. */
export class Conversation {
  readonly #options: ConversationOptions;
  #model: string | undefined;
  /** Messages whose end has not been shown. */
  readonly #pending = new Set<string>();
  readonly #shownRuns = new Set<string>();
  readonly #toldApprovals = new Set<string>();
  #following: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;
  #lastOwner: string | undefined;
  #code: ExitCode = EXIT.ok;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#model = options.model;
  }

  /** Whether a run or a compaction works. */
  get busy(): boolean {
    return this.#following !== undefined || this.#compacting !== undefined;
  }

  /** How the last run or command ended. */
  get code(): ExitCode {
    return this.#code;
  }

  /** Temporal run id of the run that was shown last. */
  get lastOwner(): string | undefined {
    return this.#lastOwner;
  }

  /** Goes on with what the session works at already. */
  async join(): Promise<void> {
    const last = (await this.#options.client.runs(this.#options.sessionId)).at(-1);
    if (last?.status !== 'running' && last?.status !== 'waiting') return;
    for (const messageId of last.messageIds) this.#pending.add(messageId);
    if (this.#pending.size > 0) this.#follow();
  }

  /** Carries a line out; never rejects. */
  async obey(line: ChatLine): Promise<void> {
    try {
      await this.#obey(line);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Asks what works to stop. */
  async cancel(reason: string): Promise<void> {
    await this.#options.client.cancel(this.#options.sessionId, reason);
  }

  /** Resolves when nothing works. */
  async idle(): Promise<void> {
    while (this.busy) await Promise.all([this.#following, this.#compacting]);
  }

  /** Resolves when a call waits for an approval, or nothing works. */
  async waiting(): Promise<void> {
    while (this.busy && (await this.#approvals()).length === 0) await pause();
  }

  async #obey(line: ChatLine): Promise<void> {
    const { tell } = this.#options;
    switch (line.kind) {
      case 'nothing':
      case 'leave':
        return;
      case 'message':
        return this.#send(line.text);
      case 'cancel':
        return this.cancel('asked for in the chat');
      case 'compact':
        return this.#compact(line.instructions);
      case 'approve':
        return this.#decide(line.session ? 'approve_session' : 'approve', line.call);
      case 'deny': {
        const waiting = await this.#approvals();
        const { call, note } = denial(
          line.words,
          waiting.map(({ callId }) => callId),
        );
        return this.#decide('deny', call, note);
      }
      case 'model':
        if (line.name !== undefined) this.#model = line.name;
        return tell(`Model from the next message on: ${visible(this.#model ?? "the agent's own")}`, 'dim');
      case 'cost':
        return this.#cost();
      case 'help':
        return tell(HELP);
      case 'wrong':
        this.#code = EXIT.usage;
        return tell(visible(line.why), 'yellow');
      default:
        assertNever(line, 'line of the chat');
    }
  }

  async #send(text: string): Promise<void> {
    const { client, sessionId, agent } = this.#options;
    const sent = await client.send({
      sessionId,
      text,
      mode: this.#following === undefined ? 'follow_up' : 'steer',
      ...(agent === undefined ? {} : { agent }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    });
    this.#pending.add(sent.messageId);
    this.#follow();
  }

  #follow(): void {
    this.#following ??= this.#followAll()
      .catch((error: unknown) => {
        this.#pending.clear();
        this.#failed(error);
      })
      .finally(() => {
        this.#following = undefined;
        // One that was sent while the last run was being closed.
        if (this.#pending.size > 0) this.#follow();
      });
  }

  async #followAll(): Promise<void> {
    const { client, sessionId, tell } = this.#options;
    const unwatch = watchTrouble(client.temporal, workflowIdOf(sessionId), (line) => tell(line, 'yellow'));
    const timer = setInterval(() => void this.#tellApprovals().catch(() => {}), LOOK_EVERY_MS);
    try {
      for (let [next] = this.#pending; next !== undefined; [next] = this.#pending) await this.#followOne(next);
    } finally {
      clearInterval(timer);
      unwatch();
    }
  }

  /** Shows the run that a message is answered by, and forgets all messages that end with it. */
  async #followOne(messageId: string): Promise<void> {
    const { client, sessionId } = this.#options;
    const known = await client.store.outcome(sessionId, messageId);
    if (known === undefined || !this.#shownRuns.has(known.runId)) {
      const renderer = this.#options.renderer();
      const { settled, runId } = await renderRun(client.follow({ sessionId, messageId }), withoutApprovals(renderer));
      renderer.end(undefined);
      this.#code = settled ?? EXIT.runFailed;
      if (runId !== undefined) {
        this.#shownRuns.add(runId);
        this.#lastOwner = (await client.store.run(runId))?.owner;
      }
    }
    this.#pending.delete(messageId);
    for (const other of this.#pending) {
      const outcome = await client.store.outcome(sessionId, other);
      if (outcome !== undefined && this.#shownRuns.has(outcome.runId)) this.#pending.delete(other);
    }
  }

  #compact(instructions: string | undefined): void {
    const { client, sessionId, tell } = this.#options;
    if (this.#compacting !== undefined) {
      tell('A compaction is under way already.', 'yellow');
      return;
    }
    tell('Compacting.', 'dim');
    this.#compacting = client
      .compact(sessionId, instructions === undefined ? {} : { instructions })
      .then((result) => tell(resultLine(result)))
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#compacting = undefined;
      });
  }

  async #decide(decision: ApprovalResolution['decision'], call: string | undefined, note?: string): Promise<void> {
    const { client, sessionId: own } = this.#options;
    const { sessionId, callId, argumentsHash } = chosen(await this.#approvals(), own, call);
    const more = note === undefined ? {} : { note };
    await client.resolveApproval(sessionId, { callId, argumentsHash, decision, by: userName(), ...more });
  }

  /** Calls of the session and of its subagents that wait. */
  async #approvals(): Promise<readonly ApprovalRequest[]> {
    const { client, sessionId } = this.#options;
    const rows = await client.store.openApprovals();
    const mine = rows
      .map((row) => row.sessionId)
      .filter((id) => id === sessionId || id.startsWith(`${sessionId}/sub/`));
    return (await Promise.all([...new Set(mine)].map((id) => client.pendingApprovals(id)))).flat();
  }

  async #tellApprovals(): Promise<void> {
    const { tell } = this.#options;
    const waiting = await this.#approvals();
    for (const { sessionId, callId, label, arguments: args } of waiting) {
      const key = `${sessionId} ${callId}`;
      if (this.#toldApprovals.has(key)) continue;
      this.#toldApprovals.add(key);
      const named = waiting.length > 1 ? ` ${callId}` : '';
      tell(`? ${unmistakable(label)}`, 'yellow');
      tell(
        argumentLines(args, false)
          .map((line) => `  ${line}`)
          .join('\n'),
        'dim',
      );
      tell(`  /approve${named} [session]\n  /deny${named} [why]`);
    }
  }

  async #cost(): Promise<void> {
    const { client, sessionId, tell } = this.#options;
    const subagents = await subagentsOf(client.store, sessionId);
    const spent = spentInAll(await client.runs(sessionId), subagents);
    tell(`${spentLine(spent)}${spent.costUsd === null ? ' · the price is not known' : ''}`);
  }

  #failed(error: unknown): void {
    const { message, hint, exitCode } = failureOf(error);
    this.#code = exitCode;
    this.#options.tell(`${visible(message).trim()}\n${visible(hint).trim()}`.trim(), 'red');
  }
}

/** Calls that wait are told with their arguments and how to answer, not as a mere notice. */
function withoutApprovals(renderer: Renderer): Renderer {
  return {
    ...renderer,
    event: (recorded) => {
      if (recorded.event.type !== 'approval_requested') renderer.event(recorded);
    },
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
