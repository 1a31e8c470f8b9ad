import { Context } from '@temporalio/activity';
import type { CallModelInput } from '../contract/activities.ts';
import type { BegunStep, Store, Writer } from '../store/store.ts';
import { effectClass } from '../tools/effect-class.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem, AssistantMessage } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import type { AgentSpec } from './agents.ts';
import { branchItem } from './branch-effects.ts';
import { controlItem } from './control-message.ts';
import { lastEntries } from './last-entries.ts';
import { lateItem } from './late-results.ts';
import { pollableOf, storedRepeats, WARN_AT } from './loop-guard.ts';
import { acceptedMessage, textOfMessage, userItem } from './message-content.ts';
import { pointOf } from './model-call.ts';
import { textOf } from './response-outcome.ts';
import { runRef } from './writer.ts';

interface Begin {
  readonly store: Store;
  readonly writer: Writer;
  readonly input: CallModelInput;
  readonly agent: AgentSpec | undefined;
  /** `provider/model` that the run was opened with. */
  readonly model: string;
}

/** Closes the batch of the step before and lets messages join, in one transaction. */
export async function beginModelStep(begin: Begin): Promise<BegunStep> {
  const { store, writer, input, agent } = begin;
  const messages = await Promise.all((input.append ?? []).map((message) => acceptedMessage(store, message)));
  const append: AgentItem[] = messages.map(userItem);
  if (input.control !== undefined && (await holdsTrue(begin))) {
    append.push(controlItem(input.control, await lastSaid(store, input), agent?.output));
  }
  const late = mayBeLate(agent) ? await store.lateResults(input.ref.sessionId) : [];
  if (late.length > 0) append.push(lateItem(late));
  const { sessionId, head, reset } = input.ref;
  const branch = reset === true ? await store.branchEffects(sessionId, { head, owner: writer.owner }) : [];
  if (branch.length > 0) append.push(branchItem(branch));
  const queued = messages.map(
    (message): AgentEvent => ({
      type: 'user_message_queued',
      messageId: message.messageId,
      mode: message.mode,
      preview: preview(textOfMessage(message)),
    }),
  );
  return store.beginStep(writer, {
    ref: runRef(input.ref, pointOf(input)),
    step: input.step,
    settlement: input.failures ?? {},
    append,
    joined: messages.map((message) => message.messageId),
    ...(late.length === 0 ? {} : { toldLate: late.map(({ callId }) => callId) }),
    ...(branch.length === 0 ? {} : { toldBranch: branch.map(({ callId }) => callId) }),
    events: [...queued, ...restarted(input), ...fellBack(begin)],
  });
}

/** Of a loop the model is told when the last results are known to be the same again: their batch is closed for that first. */
async function holdsTrue({ store, writer, input, agent }: Begin): Promise<boolean> {
  const { control, ref, step, failures } = input;
  if (control !== 'loop') return true;
  const { sessionId, runId } = ref;
  const { head } = await store.settleBatch(writer, {
    ref: runRef(ref, pointOf(input)),
    step: step - 1,
    settlement: failures ?? {},
  });
  const { count, warned } = await storedRepeats(store, { sessionId, runId, head }, pollableOf(agent));
  return count >= WARN_AT && !warned;
}

/** Whether calls of the agent's tools can come back late at all: read-only ones are simply run again. */
function mayBeLate(agent: AgentSpec | undefined): boolean {
  return agent?.tools.tools.some((tool) => effectClass(tool) !== 'read_only') === true;
}

async function lastSaid(store: Store, { ref }: CallModelInput): Promise<string> {
  const said = (await lastEntries(store, ref))
    .map(({ item }) => item)
    .findLast((item): item is AssistantMessage => item.kind === 'assistant_message');
  return said === undefined ? '' : textOf([said]);
}

/** Tells readers to drop the text of an attempt that died. */
function restarted({ step }: CallModelInput): AgentEvent[] {
  const { attempt } = Context.current().info;
  if (attempt === 1) return [];
  return [{ type: 'model_attempt_restarted', step, attempt, reason: 'the previous attempt did not finish' }];
}

/** A fallback that had to wait for a compaction is told here: the call that decided on it committed nothing. */
function fellBack({ input: { step, model, afterCompaction }, model: from }: Begin): AgentEvent[] {
  if (model === undefined || afterCompaction?.trigger !== 'model_downshift') return [];
  return [{ type: 'model_fallback', step, from, to: model, reason: 'the models before it refused' }];
}
