import type { AnthropicLaws } from './anthropic.ts';
import { isServerResult } from './anthropic-blocks.ts';
import { type Flag, isObject, type Obj } from './shape.ts';

function blocks(message: Obj | undefined): Obj[] {
  return Array.isArray(message?.content) ? message.content.filter(isObject) : [];
}

/** Whether any message asks for a client tool. */
export function hasCalls(messages: readonly Obj[]): boolean {
  return messages.some((message) => blocks(message).some((block) => block.type === 'tool_use'));
}

/** Everything that spans messages: roles in turn, calls answered, thinking in place, the last message. */
export function checkConversation(messages: readonly Obj[], request: Obj, laws: AnthropicLaws, flag: Flag): void {
  if (messages[0] !== undefined && messages[0].role !== 'user')
    flag('messages[0]', 'first message must use the user role');
  messages.forEach((message, i) => {
    if (i > 0 && messages[i - 1]?.role === message.role) flag(`messages[${i}]`, 'roles must alternate');
    if (message.role === 'assistant' && blocks(message).at(-1)?.type?.toString().endsWith('thinking') === true) {
      flag(`messages[${i}]`, 'the final block in an assistant message cannot be thinking');
    }
  });
  clientCalls(messages, flag);
  serverCalls(messages, flag);
  finalAssistant(messages, request, laws, flag);
  if (isObject(request.thinking) && request.thinking.type === 'enabled') openToolTurn(messages, flag);
}

/**
 * "`tool_use` ids were found without `tool_result` blocks immediately after"; "unexpected `tool_use_id` found in
 * `tool_result` blocks"; "each tool_use must have a single result"; ids unique; results first in their message
 * (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
 */
function clientCalls(messages: readonly Obj[], flag: Flag): void {
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  messages.forEach((message, i) => {
    const path = `messages[${i}]`;
    const answers = results(message, path, flag);
    for (const id of answers) {
      if (!open.includes(id)) flag(path, `no tool_use ${String(id)} in the previous message`);
    }
    if (new Set(answers).size < answers.length) flag(path, 'a tool_use has more than one tool_result');
    for (const id of open) {
      if (!answers.includes(id)) flag(path, `tool_use ${String(id)} has no tool_result immediately after`);
    }
    open =
      message.role === 'assistant'
        ? blocks(message).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
        : [];
    for (const id of open) {
      if (seen.has(id)) flag(path, `tool_use ids must be unique: ${String(id)}`);
      seen.add(id);
    }
  });
  for (const id of open) flag('messages', `tool_use ${String(id)} is not answered`);
}

/** The ids a message answers; flags results that stand behind other content. */
function results(message: Obj, path: string, flag: Flag): unknown[] {
  const answers: unknown[] = [];
  let other = false;
  for (const block of message.role === 'user' ? blocks(message) : []) {
    if (block.type !== 'tool_result') {
      other = true;
      continue;
    }
    if (other) flag(path, 'tool_result blocks must come first');
    answers.push(block.tool_use_id);
  }
  return answers;
}

/** A server tool's result stands in the same assistant message or in the next one; only the last may be open (`pause_turn`). */
function serverCalls(messages: readonly Obj[], flag: Flag): void {
  let open = new Set<unknown>();
  messages.forEach((message, i) => {
    if (message.role !== 'assistant') return;
    const carried = open;
    open = new Set();
    for (const block of blocks(message)) {
      if (block.type === 'server_tool_use') open.add(block.id);
      else if (isServerResult(block.type) && !open.delete(block.tool_use_id) && !carried.delete(block.tool_use_id)) {
        flag(`messages[${i}]`, `no server_tool_use ${String(block.tool_use_id)} before its result`);
      }
    }
    for (const id of carried) flag(`messages[${i}]`, `server_tool_use ${String(id)} has no result`);
  });
  const last = messages.at(-1);
  if (last?.role === 'user' && !blocks(last).some((block) => block.type === 'tool_result')) {
    for (const id of open) flag('messages', `server_tool_use ${String(id)} has no result`);
  }
}

function finalAssistant(messages: readonly Obj[], request: Obj, laws: AnthropicLaws, flag: Flag): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const tail = typeof last.content === 'string' ? last.content : blocks(last).at(-1)?.text;
  if (typeof tail === 'string' && tail !== tail.trimEnd()) {
    flag('messages', 'final assistant content cannot end with trailing whitespace');
  }
  const paused = blocks(last).some((block) => block.type === 'server_tool_use');
  if (!laws.prefill && !paused) flag('messages', 'the conversation must end with a user message');
  const thinks = isObject(request.thinking) && request.thinking.type !== 'disabled';
  if (thinks && !paused) flag('messages', 'a final assistant message cannot be prefilled with thinking');
}

/** "When `thinking` is enabled, a final `assistant` message must start with a thinking block": the turn whose tools are being answered. */
function openToolTurn(messages: readonly Obj[], flag: Flag): void {
  const last = messages.at(-1);
  const answering =
    last?.role === 'user' && blocks(last).every((block) => block.type === 'tool_result') && blocks(last).length > 0;
  if (!answering) return;
  let start = messages.length - 1;
  while (start > 0 && !isUserTurn(messages[start])) start -= 1;
  const first = messages.slice(start + 1).find((message) => message.role === 'assistant');
  const type = blocks(first)[0]?.type;
  if (type !== 'thinking' && type !== 'redacted_thinking') {
    flag('messages', 'with thinking enabled the open tool turn must start with a thinking block');
  }
}

function isUserTurn(message: Obj | undefined): boolean {
  if (message?.role !== 'user') return false;
  return typeof message.content === 'string' || blocks(message).some((block) => block.type !== 'tool_result');
}
