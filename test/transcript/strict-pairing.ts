import type { AssistantTurnMessage, Message } from '../../src/transcript/message.ts';

/**
 * What a strict server would refuse in a list of messages, whatever its wire format. Knows nothing of items, groups or
 * repairs: it reads messages from first to last.
 */
export function pairingFaults(messages: readonly Message[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  let open: Set<string> = new Set();
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        // A person's message ends the turn: what the provider ran before it gets no result any more.
        open = new Set();
        break;
      case 'tool': {
        const wanted = before?.role === 'assistant' ? callIds(before) : [];
        const given = message.content.map(({ callId }) => callId);
        if (wanted.length === 0) faults.push(`${at}: results without calls`);
        else if (given.join('\n') !== wanted.join('\n')) faults.push(`${at}: results ${given} for calls ${wanted}`);
        for (const { name } of message.content) if (name === '') faults.push(`${at}: a result without a tool name`);
        break;
      }
      case 'assistant': {
        if (message.content.length === 0) faults.push(`${at}: an empty answer`);
        if (before?.role === 'assistant' && before.response?.id === message.response?.id) {
          faults.push(`${at}: one response in two messages`);
        }
        const ids = callIds(message);
        for (const id of ids) {
          if (id === '' || seen.has(id)) faults.push(`${at}: call id "${id}" is empty or used before`);
          seen.add(id);
        }
        if (ids.length > 0 && messages[at + 1]?.role !== 'tool') faults.push(`${at}: calls ${ids} without results`);
        for (const block of message.content) {
          if (block.type === 'tool_use' && !isObject(block.input)) faults.push(`${at}: input is no object`);
          if (block.type !== 'builtin_tool') continue;
          if (block.phase === 'call') open.add(block.nativeId);
          else if (!open.delete(block.nativeId)) faults.push(`${at}: builtin result ${block.nativeId} without call`);
        }
        break;
      }
    }
  }
  return faults;
}

function callIds(message: AssistantTurnMessage): readonly string[] {
  return message.content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
