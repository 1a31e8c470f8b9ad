import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import { isSessionId, workflowIdOf } from '../../contract/identity.ts';
import { bringUp, closed, type Means, workerLost, workerReady } from '../bring-up.ts';
import { openTerminalChat } from '../chat/at-terminal.ts';
import { Conversation, type ConversationOptions } from '../chat/conversation.ts';
import { talkFromInput } from '../chat/from-input.ts';
import type { Cleanup } from '../cleanup.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { withCleanup } from '../interruptible.ts';
import { narrator } from '../narrate.ts';
import { type Output, rendererFor } from '../output.ts';
import type { Settings } from '../settings.ts';
import { webUiLink } from '../temporal-access.ts';

export interface ChatCommand {
  readonly settings: Settings;
  /** Absent: a new one. */
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
  /** Of what is read from a file or a pipe. */
  readonly output: Output | undefined;
}

/**
 * A conversation in one session, with whatever it needs, as `run` has it. At a terminal the line that is typed stays
 * usable while a run works; from a file or a pipe each line is answered in turn.
 */
export async function chat(command: ChatCommand): Promise<ExitCode> {
  const { settings, session } = command;
  if (session !== undefined && !isSessionId(session)) {
    throw new HoldfastError('InvalidInput', `"${session}" is no session id: use [A-Za-z0-9._-], at most 128`);
  }
  return withCleanup(async (cleanup, cancel) => {
    const means = await bringUp({ settings, wish: command, cleanup, cancel });
    if (means === undefined) return EXIT.cancelled;
    if (!(await workerReady(means, { settings, wish: command, cancel }))) return EXIT.cancelled;
    return converse(command, means, cleanup, cancel);
  });
}

async function converse(command: ChatCommand, means: Means, cleanup: Cleanup, cancel: AbortSignal): Promise<ExitCode> {
  const { client, lease, worker } = means;
  const { session: sessionId = randomUUID(), agent, model } = command;
  const link = webUiLink(lease.access, workflowIdOf(sessionId));
  narrator().say(`Session ${sessionId}${link === undefined ? '' : ` · ${link}`}`);
  const common = { client, sessionId, agent, model };
  const { conversation, talk, close } = frontEnd(command, common, cancel);
  cleanup.add(async () => close(), close);
  await conversation.join();
  const lost = workerLost(means);
  const code = await (lost === undefined ? talk() : Promise.race([talk(), lost]));
  close();
  if (conversation.busy) narrator().say(`The run goes on: holdfast chat --session ${sessionId} joins it again.`);
  else if (worker !== undefined && conversation.lastOwner !== undefined) {
    await closed(client, workflowIdOf(sessionId), conversation.lastOwner);
  }
  return code;
}

interface FrontEnd {
  readonly conversation: Conversation;
  readonly talk: () => Promise<ExitCode>;
  readonly close: () => void;
}

/** A terminal where there is one on both sides, else lines in and text out. */
function frontEnd(
  { output }: ChatCommand,
  common: Omit<ConversationOptions, 'renderer' | 'tell'>,
  cancel: AbortSignal,
): FrontEnd {
  if (process.stdin.isTTY && process.stdout.isTTY && output === undefined) {
    const terminal = openTerminalChat();
    const conversation = new Conversation({ ...common, ...terminal.show });
    terminal.show.tell('/help tells the commands; Ctrl-D leaves.', 'dim');
    return { conversation, talk: () => terminal.talk(conversation, cancel), close: terminal.close };
  }
  const conversation = new Conversation({
    ...common,
    renderer: () => rendererFor(output),
    tell: (lines) => void process.stderr.write(`${lines}\n`),
  });
  return { conversation, talk: () => talkFromInput(conversation, process.stdin, cancel), close: () => {} };
}
