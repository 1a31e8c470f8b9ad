import { randomUUID } from 'node:crypto';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { CompactionResult } from '../compaction/models.ts';
import { HoldfastError } from '../contract/errors.ts';
import { isSessionId, MAX_INLINE_BYTES, TASK_QUEUE, workflowIdOf } from '../contract/identity.ts';
import {
  type ApprovalResolution,
  type BudgetExtension,
  cancelSignal,
  type PendingApproval,
  type RunStatusView,
  type SendMessage,
  statusQuery,
} from '../contract/messages.ts';
import { openStore } from '../store/open-store.ts';
import type { MessageOutcome, RunRow, SessionPage, SessionRow, Store } from '../store/store.ts';
import type { RecordedEvent } from '../transcript/events.ts';
import type { MediaRef, TranscriptEntry } from '../transcript/items.ts';
import { accept } from './accept.ts';
import { type ApprovalDeps, type ApprovalRequest, pendingApprovals, resolveApproval } from './approvals.ts';
import { compactSession } from './compact.ts';
import { extendBudget } from './extend-budget.ts';
import { type Fork, type ForkOptions, forkSession } from './fork.ts';
import { type TailOptions, tail } from './tail.ts';
import { isAlreadyStarted, translate } from './temporal-errors.ts';

export interface HoldfastClientOptions {
  /** A connected client; its namespace is used. Close its connection yourself. */
  readonly client: Client;
  readonly store: Store;
  /** Default `holdfast`. */
  readonly taskQueue?: string;
}

export interface ConnectOptions {
  /** How to reach Temporal: address, TLS, API key. Default `127.0.0.1:7233`. */
  readonly connection?: ConnectionOptions;
  /** Default `default`. */
  readonly namespace?: string;
  /** Path of a SQLite file or a `postgres://` URL: the store that the workers use. */
  readonly store: string;
  readonly taskQueue?: string;
}

export interface OutgoingMessage {
  /** `[A-Za-z0-9._-]{1,128}`; default: a fresh one. */
  readonly sessionId?: string;
  readonly text: string;
  /** Default: a fresh one. The same id is answered once, however often it is sent. */
  readonly messageId?: string;
  readonly agent?: string;
  /** `provider/model`. */
  readonly model?: string;
  readonly mode?: SendMessage['mode'];
  readonly attachments?: readonly MediaRef[];
  /** Denies the approvals that the session's open run waits for, so that it goes on and reads the message. */
  readonly denyPending?: true;
}

/** A message that is accepted: it ends in exactly one `final_response`, `loop_aborted` or `run_failed`. */
export interface SentMessage {
  readonly sessionId: string;
  readonly messageId: string;
  readonly workflowId: string;
}

/** Starts, steers, stops and reads agent runs. Temporal carries the commands, the store has the content. */
export class HoldfastClient {
  readonly store: Store;
  readonly temporal: Client;
  readonly #taskQueue: string;
  readonly #close: () => Promise<void>;

  constructor(options: HoldfastClientOptions, close: () => Promise<void> = async () => undefined) {
    this.temporal = options.client;
    this.store = options.store;
    this.#taskQueue = options.taskQueue ?? TASK_QUEUE;
    this.#close = close;
  }

  /**
   * Connects to Temporal and opens the store.
   *
   * @throws HoldfastError `TemporalUnavailable`; StoreError when the store cannot be opened or belongs to another namespace.
   */
  static async connect(options: ConnectOptions): Promise<HoldfastClient> {
    const connection = await connectTemporal(options.connection);
    const client = new Client({ connection, namespace: options.namespace ?? 'default' });
    let store: Store | undefined;
    try {
      store = await openStore(options.store);
      await store.bindNamespace(await namespaceId(client));
    } catch (error) {
      await store?.close();
      await connection.close();
      throw error;
    }
    const opened = store;
    const taskQueue = options.taskQueue === undefined ? {} : { taskQueue: options.taskQueue };
    return new HoldfastClient({ client, store: opened, ...taskQueue }, async () => {
      await opened.close();
      await connection.close();
    });
  }

  /** Starts a run in an idle session. @throws HoldfastError `SessionBusy` naming the open run, `InvalidInput`, `NoWorker`. */
  async start(message: OutgoingMessage): Promise<SentMessage> {
    return this.#hand(message, 'fail');
  }

  /** Sends a message: starts a run, or joins or queues behind the open one. @throws HoldfastError `InvalidInput`, `InboxFull`, `NoWorker`. */
  async send(message: OutgoingMessage): Promise<SentMessage> {
    return this.#hand(message, 'join');
  }

  /** Asks the session's open run to stop. Its transcript is settled before it ends. @throws HoldfastError `NotFound` when nothing runs. */
  async cancel(sessionId: string, reason?: string): Promise<void> {
    try {
      await this.temporal.workflow
        .getHandle(workflowIdOf(sessionId))
        .signal(cancelSignal, reason === undefined ? {} : { reason });
    } catch (error) {
      throw translate(error, sessionId);
    }
  }

  /**
   * Calls that wait for an approval, of one session or of all, the nearest deadline first. Needs a server only to leave out
   * those that were decided a moment ago.
   */
  pendingApprovals(sessionId?: string): Promise<readonly ApprovalRequest[]> {
    return pendingApprovals(this.#deps(), sessionId);
  }

  /**
   * Decides on a call that waits for an approval. An approval for the session (`approve_session`) covers the tool from now
   * on, other calls of it that wait already included.
   *
   * @throws HoldfastError `NotFound` when no such call waits, `InvalidInput` for other arguments than the call's or a call
   * that was decided otherwise, `NoWorker`.
   */
  resolveApproval(sessionId: string, resolution: ApprovalResolution): Promise<PendingApproval> {
    return resolveApproval(this.#deps(), sessionId, resolution);
  }

  /** Adds to the budgets of the session's open run. @throws HoldfastError `NotFound` when nothing runs, `InvalidInput`, `NoWorker`. */
  extendBudget(sessionId: string, extension: BudgetExtension): Promise<RunStatusView> {
    return extendBudget(this.#deps(), sessionId, extension);
  }

  /**
   * Replaces an old part of the session by a summary: at the next step boundary of an open run, or at once in an idle
   * session. Resolves with what came of it, also when that is nothing or a failure that left history as it was.
   *
   * @throws HoldfastError `NotFound` for an unknown session, `RunAbandoned` when the run ended before it came to it.
   */
  compact(
    sessionId: string,
    options: { readonly instructions?: string; readonly signal?: AbortSignal } = {},
  ): Promise<CompactionResult> {
    const deps = this.#deps();
    const sessionAlive = (settled: () => Promise<unknown>) => this.#sessionAlive(sessionId, settled);
    return compactSession({ ...deps, sessionAlive }, sessionId, options);
  }

  /** Copies a session up to an item, as a new one. @throws HoldfastError, StoreError: `NotFound`, `InvalidInput`. */
  fork(sessionId: string, options: ForkOptions): Promise<Fork> {
    return forkSession(this.store, sessionId, options);
  }

  /** What the session's open run is doing; needs a live worker. */
  async status(sessionId: string): Promise<RunStatusView> {
    try {
      return await this.temporal.workflow.getHandle(workflowIdOf(sessionId)).query(statusQuery);
    } catch (error) {
      throw translate(error, sessionId);
    }
  }

  /** A run's events, from any index on. */
  events(runId: string, options: TailOptions = {}): AsyncGenerator<RecordedEvent> {
    return tail(this.store, runId, { ...options, stillAlive: options.stillAlive ?? (() => this.#stillAlive(runId)) });
  }

  /** Events of the run that takes the message in, as they happen; waits for it to begin. */
  async *follow(
    sent: Pick<SentMessage, 'sessionId' | 'messageId'>,
    options: Omit<TailOptions, 'follow'> = {},
  ): AsyncGenerator<RecordedEvent> {
    const runId = await this.#runOf(sent, options.signal);
    if (runId !== undefined) yield* this.events(runId, { ...options, follow: true });
  }

  /** Waits for the message's terminal event. Reads the store; Temporal is asked for liveness only. */
  async result(
    sent: Pick<SentMessage, 'sessionId' | 'messageId'>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<MessageOutcome> {
    let asked = Date.now();
    for (;;) {
      options.signal?.throwIfAborted();
      const outcome = await this.store.outcome(sent.sessionId, sent.messageId);
      if (outcome !== undefined) return outcome;
      if (Date.now() - asked > 3000) {
        asked = Date.now();
        await this.#sessionAlive(sent.sessionId, () => this.store.outcome(sent.sessionId, sent.messageId));
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Stores a file's bytes, to be sent as an attachment of a message. */
  attach(bytes: Uint8Array, mediaType: string, name?: string): Promise<MediaRef> {
    return this.store.putBlob(bytes, mediaType, name);
  }

  sessions(page: SessionPage = { limit: 50 }): Promise<readonly SessionRow[]> {
    return this.store.sessions(page);
  }

  runs(sessionId: string): Promise<readonly RunRow[]> {
    return this.store.runs(sessionId);
  }

  transcript(sessionId: string): Promise<readonly TranscriptEntry[]> {
    return this.store.entries(sessionId);
  }

  async close(): Promise<void> {
    await this.#close();
  }

  #deps(): ApprovalDeps {
    return { client: this.temporal, store: this.store, taskQueue: this.#taskQueue };
  }

  async #hand(message: OutgoingMessage, whenBusy: 'fail' | 'join'): Promise<SentMessage> {
    const sessionId = message.sessionId ?? randomUUID();
    if (!isSessionId(sessionId))
      throw new HoldfastError('InvalidInput', `"${sessionId}" is no session id: use [A-Za-z0-9._-], at most 128`);
    if (message.text.trim() === '' && (message.attachments?.length ?? 0) === 0)
      throw new HoldfastError('InvalidInput', 'the message is empty');
    const messageId = message.messageId ?? randomUUID();
    const sent = { sessionId, messageId, workflowId: workflowIdOf(sessionId) };
    if ((await this.store.outcome(sessionId, messageId)) !== undefined) return sent;
    const { storeId } = await this.store.identity();
    try {
      await accept({
        client: this.temporal,
        taskQueue: this.#taskQueue,
        sessionId,
        message: await this.#packed(message, messageId, storeId),
        whenBusy,
        storeId,
      });
    } catch (error) {
      if (isAlreadyStarted(error)) throw await this.#busy(sessionId);
      throw error;
    }
    return sent;
  }

  /** Long text goes to the store, so that no payload grows with it. */
  async #packed(message: OutgoingMessage, messageId: string, storeId: string): Promise<SendMessage> {
    const bytes = new TextEncoder().encode(message.text);
    const text =
      bytes.byteLength <= MAX_INLINE_BYTES
        ? { text: message.text }
        : { textRef: await this.store.putBlob(bytes, 'text/plain') };
    return {
      messageId,
      ...text,
      storeId,
      mode: message.mode ?? 'follow_up',
      ...(message.agent === undefined ? {} : { agent: message.agent }),
      ...(message.model === undefined ? {} : { model: message.model }),
      ...(message.denyPending === undefined ? {} : { denyPending: message.denyPending }),
      ...(message.attachments === undefined ? {} : { attachments: message.attachments }),
    };
  }

  async #busy(sessionId: string): Promise<HoldfastError> {
    const session = await this.store.session(sessionId);
    return new HoldfastError(
      'SessionBusy',
      `session ${sessionId} is busy with run ${session?.lastRunId ?? 'that is just starting'}`,
    );
  }

  async #runOf(sent: Pick<SentMessage, 'sessionId' | 'messageId'>, signal?: AbortSignal): Promise<string | undefined> {
    let asked = Date.now();
    while (signal?.aborted !== true) {
      const known = await this.store.runOfMessage(sent.sessionId, sent.messageId);
      const runId = known ?? (await this.store.outcome(sent.sessionId, sent.messageId))?.runId;
      if (runId !== undefined) return runId;
      if (Date.now() - asked > 3000) {
        asked = Date.now();
        await this.#sessionAlive(sent.sessionId, () => this.store.runOfMessage(sent.sessionId, sent.messageId));
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return undefined;
  }

  async #stillAlive(runId: string): Promise<void> {
    const run = await this.store.run(runId);
    if (run === undefined) throw new HoldfastError('NotFound', `run ${runId} is not in the store`);
    if (run.status !== 'running' && run.status !== 'waiting') return;
    await this.#sessionAlive(run.sessionId, async () => {
      const now = await this.store.run(runId);
      return now?.status === 'running' || now?.status === 'waiting' ? undefined : now;
    });
  }

  /** Rejects when no workflow of the session is open and `settled` has nothing to tell either. */
  async #sessionAlive(sessionId: string, settled: () => Promise<unknown>): Promise<void> {
    const open = await this.temporal.workflow
      .getHandle(workflowIdOf(sessionId))
      .describe()
      .then(({ status }) => status.name === 'RUNNING')
      .catch((error) => {
        const known = translate(error, sessionId);
        if (known instanceof HoldfastError && known.code === 'NotFound') return false;
        // The server is away: the run waits for it, and so do we.
        if (known instanceof HoldfastError && known.code === 'TemporalUnavailable') return true;
        throw known;
      });
    if (!open && (await settled()) === undefined) {
      throw new HoldfastError('RunAbandoned', `no workflow of session ${sessionId} is open, and its run has not ended`);
    }
  }
}

async function connectTemporal(options: ConnectionOptions | undefined): Promise<Connection> {
  const address = options?.address ?? '127.0.0.1:7233';
  try {
    return await Connection.connect({ address, connectTimeout: 5000, ...options });
  } catch (error) {
    throw new HoldfastError('TemporalUnavailable', `no Temporal server answers at ${address}`, { cause: error });
  }
}

/** UUID of the client's namespace: what a store is bound to. */
export async function namespaceId(client: Client): Promise<string> {
  const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace: client.options.namespace });
  return namespaceInfo?.id ?? '';
}
