import type { ChatLaws } from './openai-chat.ts';
import { type Flag, isObject, type Obj } from './shape.ts';

function callIds(message: Obj): string[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  return calls.flatMap((call) => (typeof call.id === 'string' ? [call.id] : []));
}

/**
 * "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", and
 * "messages with role 'tool' must be a response to a preceding message with 'tool_calls'". A strict server also wants
 * an id only once in a conversation.
 */
export function pairing(messages: readonly Obj[], flag: Flag): void {
  const everSeen = new Set<string>();
  let open = new Set<string>();
  let answered = new Set<string>();
  messages.forEach((message, i) => {
    const path = `messages[${i}]`;
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (answered.has(id)) flag(path, `call ${id} is answered twice`);
      else if (!open.has(id)) flag(path, `no call ${id} precedes this result`);
      open.delete(id);
      answered.add(id);
      return;
    }
    for (const id of open) flag(path, `call ${id} is not answered before this message`);
    open = new Set(message.role === 'assistant' ? callIds(message) : []);
    answered = new Set();
    for (const id of open) {
      if (everSeen.has(id)) flag(path, `call id ${id} was used before`);
      everSeen.add(id);
    }
  });
  for (const id of open) flag('messages', `call ${id} is not answered`);
}

/** The order of roles that chat templates and some vendors ask for, by option. */
export function turnOrder(messages: readonly Obj[], laws: ChatLaws, flag: Flag): void {
  if (laws.alternation) alternation(messages, flag);
  const last = messages.at(-1);
  if (laws.noFinalAssistant && last?.role === 'assistant') flag('messages', 'must not end with the assistant');
  if (laws.reasoningContent === 'tool_turns') reasoningInToolTurns(messages, flag);
}

/** System first and once; then user and assistant in turn, where results belong to the assistant's side. */
function alternation(messages: readonly Obj[], flag: Flag): void {
  const turns = messages[0]?.role === 'system' ? messages.slice(1) : messages;
  const offset = messages.length - turns.length;
  let before = 'assistant';
  turns.forEach((message, i) => {
    const path = `messages[${i + offset}]`;
    const role = String(message.role);
    if (role === 'system' || role === 'developer') flag(path, 'a system prompt must be first and single');
    else if (role === 'user' && before === 'user') flag(path, 'two user messages in a row');
    else if (role === 'assistant' && (before === 'assistant' || i === 0))
      flag(path, 'roles must alternate, user first');
    before = role;
  });
}

/**
 * DeepSeek's thinking mode: once a turn (from one user message to the next) used tools, every assistant message of it
 * must bring its `reasoning_content` back (https://api-docs.deepseek.com/guides/thinking_mode).
 */
function reasoningInToolTurns(messages: readonly Obj[], flag: Flag): void {
  let turn: { readonly message: Obj; readonly index: number }[] = [];
  const close = () => {
    if (!turn.some(({ message }) => message.tool_calls !== undefined)) return;
    for (const { message, index } of turn) {
      if (typeof message.reasoning_content !== 'string') {
        flag(`messages[${index}]`, 'reasoning_content must be sent back in a turn that used tools');
      }
    }
  };
  messages.forEach((message, index) => {
    if (message.role === 'user') {
      close();
      turn = [];
    } else if (message.role === 'assistant') {
      turn.push({ message, index });
    }
  });
  close();
}
