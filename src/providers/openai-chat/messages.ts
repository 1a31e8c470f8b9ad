import type OpenAI from 'openai';
import type { ReplayScope } from '../../transcript/items.ts';
import type {
  AssistantTurnMessage,
  Message,
  MessageRequest,
  ToolMessage,
  ToolResultBlock,
} from '../../transcript/message.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireIdsOf } from '../../transcript/wire-ids.ts';
import type { MediaLookup } from '../provider.ts';
import { EARLIER_CONVERSATION, GO_ON, NO_OUTPUT, statusMark } from '../stand-ins.ts';
import type { WireLoss } from '../wire-loss.ts';
import { type AssistantParam, assistantParam } from './assistant-message.ts';
import type { Dialect } from './dialects.ts';
import { type Part, userParts } from './media-parts.ts';
import type { ReasoningPlan } from './reasoning.ts';

export type MessageParam = OpenAI.Chat.Completions.ChatCompletionMessageParam;

export interface MessagesContext {
  readonly scope: ReplayScope;
  readonly dialect: Dialect;
  readonly media?: MediaLookup | undefined;
  readonly takesImages: boolean;
  readonly plan: ReasoningPlan;
  /** Goes to the end of the system prompt. */
  readonly schemaNote: string | undefined;
  readonly lose: (loss: WireLoss) => void;
}

/** Said by the model where a server wants it to speak between results and the user's next message. */
const RESULTS_SEEN = '(Results received.)';
/** Text of media that tool results hold, which this wire takes in user messages only. */
const RESULT_MEDIA = 'Attached to the tool results above:';
const SEE_BELOW = '(see the attachment below)';

/** The messages of a request: the system prompt first, results right after their calls, and the dialect's order of roles. */
export function wireMessages(request: MessageRequest, context: MessagesContext): MessageParam[] {
  const { dialect } = context;
  const ids = wireIdsOf(request.messages, dialect.callIds);
  const system = systemText(request.messages, context);
  const turns: MessageParam[] = [];
  request.messages.forEach((message, index) => {
    if (message.role === 'user') turns.push(...userTurn(userParts(message.content, index, context)));
    if (message.role === 'assistant') turns.push(...assistantTurns(message, index, request.messages, ids, context));
    if (message.role === 'tool') loseOrphans(message, index, request.messages, context);
  });
  const ordered = dialect.alternate ? alternating(turns) : turns;
  const answered = dialect.answerAfterTools ? withAnswers(ordered) : ordered;
  const last = answered.at(-1)?.role;
  // Nothing but a system prompt is a request that most templates cannot render.
  if (last === undefined || (dialect.userLast && last === 'assistant')) answered.push({ role: 'user', content: GO_ON });
  return system === '' ? answered : [{ role: dialect.systemRole, content: system }, ...answered];
}

/** All system messages as one: templates of many servers take one, and only at the head. */
function systemText(messages: readonly Message[], { schemaNote, lose }: MessagesContext): string {
  const texts: string[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'system') return;
    for (const block of message.content) {
      if (block.type !== 'text')
        lose({ code: 'system_block', message: index, detail: `${block.type} in a system message` });
      else if (block.text.trim() !== '') texts.push(wellFormed(block.text));
    }
  });
  return [...texts, ...(schemaNote === undefined ? [] : [schemaNote])].join('\n\n');
}

function userTurn(parts: readonly Part[]): MessageParam[] {
  const [only] = parts;
  if (only === undefined) return [];
  return [{ role: 'user', content: parts.length === 1 && only.type === 'text' ? only.text : [...parts] }];
}

/** One model message, then the results of its calls in call order, then what media they hold. */
function assistantTurns(
  message: AssistantTurnMessage,
  index: number,
  messages: readonly Message[],
  ids: ReadonlyMap<string, string>,
  context: MessagesContext,
): MessageParam[] {
  const param = assistantParam(message, index, ids, context);
  if (param === undefined) return [];
  const calls = message.content.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) return [param];
  const next = messages[index + 1];
  const results = next?.role === 'tool' ? next.content : [];
  const byId = new Map(results.map((result) => [result.callId, result]));
  if (context.plan.folded.has(index)) return [param, ...foldedResults(results, index + 1, context)];
  const attached: Part[] = [];
  const answers = calls.map((call): MessageParam => {
    const result = byId.get(call.callId);
    const said = result === undefined ? { text: NO_OUTPUT, media: [] } : resultParts(result, index + 1, context);
    attached.push(...said.media);
    const id = ids.get(call.callId) ?? call.callId;
    return {
      role: 'tool',
      tool_call_id: id,
      ...(context.dialect.toolMessageName ? { name: nameOf(param, id) } : {}),
      content: said.text,
    };
  });
  if (attached.length === 0) return [param, ...answers];
  return [param, ...answers, ...userTurn([{ type: 'text', text: RESULT_MEDIA }, ...attached])];
}

function nameOf(param: AssistantParam, id: string): string {
  const call = param.tool_calls?.find((one) => one.id === id);
  return call?.type === 'function' ? call.function.name : '';
}

/** A result as text, which is never empty (some servers refuse that), and the media that only a user message may hold. */
function resultParts(
  result: ToolResultBlock,
  index: number,
  context: MessagesContext,
): { readonly text: string; readonly media: readonly Part[] } {
  const parts = userParts(result.content, index, context);
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const media = parts.filter((part) => part.type !== 'text');
  const nothing = media.length === 0 ? NO_OUTPUT : SEE_BELOW;
  return { text: statusMark(result.status, text) + (text === '' ? nothing : text), media };
}

/** Results whose calls became text are text of the user's. */
function foldedResults(results: readonly ToolResultBlock[], index: number, context: MessagesContext): MessageParam[] {
  return userTurn(
    results.flatMap((result): Part[] => {
      const { text, media } = resultParts(result, index, context);
      return [{ type: 'text', text: `[result of ${result.name}]\n${text}` }, ...media];
    }),
  );
}

/** A result goes out only behind its call. */
function loseOrphans(
  message: ToolMessage,
  index: number,
  messages: readonly Message[],
  { lose }: MessagesContext,
): void {
  const before = messages[index - 1];
  const calls = before?.role === 'assistant' ? before.content : [];
  for (const { callId, name } of message.content) {
    if (calls.some((block) => block.type === 'tool_use' && block.callId === callId)) continue;
    lose({ code: 'orphan_result', message: index, detail: `a result of ${name.slice(0, 80)} without its call` });
  }
}

/** User and assistant in turn, the user first; neighbours of one role become one message. */
function alternating(turns: readonly MessageParam[]): MessageParam[] {
  const merged: MessageParam[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === 'user' && turn.role === 'user') {
      merged[merged.length - 1] = { role: 'user', content: [...partsOf(last.content), ...partsOf(turn.content)] };
    } else if (last?.role === 'assistant' && turn.role === 'assistant' && last.tool_calls === undefined) {
      const text = [last.content, turn.content]
        .filter((content) => typeof content === 'string' && content !== '')
        .join('\n\n');
      merged[merged.length - 1] = { ...last, ...turn, content: text === '' ? null : text };
    } else merged.push(turn);
  }
  return merged[0]?.role === 'assistant' ? [{ role: 'user', content: EARLIER_CONVERSATION }, ...merged] : merged;
}

function partsOf(content: string | readonly Part[]): readonly Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function withAnswers(turns: readonly MessageParam[]): MessageParam[] {
  return turns.flatMap((turn, index): MessageParam[] =>
    turn.role === 'user' && turns[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: RESULTS_SEEN }, turn]
      : [turn],
  );
}
