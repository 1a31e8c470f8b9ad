import type { AgentItem, ToolResultBatch } from '../../../src/transcript/items.ts';
import type { Message, MessageRequest, ToolSpec } from '../../../src/transcript/message.ts';
import { normalize } from '../../../src/transcript/normalize.ts';
import { toMessages } from '../../../src/transcript/to-messages.ts';
import { isObj, type Obj, objs, str } from './case-file.ts';
import type { Lab } from './lab.ts';
import type { SeenRequest } from './observation.ts';
import type { Target } from './target.ts';

export const USER: AgentItem = {
  kind: 'user_message',
  schemaVersion: 1,
  origin: 'user',
  content: [{ type: 'text', text: 'Hello.' }],
};

/** A request for a target made of items, the only way the product makes one. */
export function requestOf(
  items: readonly AgentItem[],
  settings: {
    readonly model: string;
    readonly system?: readonly string[];
    readonly tools?: readonly ToolSpec[];
    readonly thinking?: MessageRequest['thinking'];
  },
): MessageRequest {
  const system = (settings.system ?? []).map(
    (text): Message => ({ role: 'system', content: [{ type: 'text', text }] }),
  );
  return {
    model: settings.model,
    messages: [...system, ...toMessages(normalize(items).items)],
    tools: settings.tools ?? [],
    ...(settings.thinking === undefined ? {} : { thinking: settings.thinking }),
  };
}

/** The body that the target's provider would send. */
export function bodyOf(
  lab: Lab,
  target: Target,
  request: MessageRequest,
  media: ReadonlyMap<string, string> = new Map(),
): SeenRequest {
  // Through JSON, as it travels: `undefined` is not on the wire.
  const body: unknown = JSON.parse(
    JSON.stringify(lab.provider(target).wire(request, ({ sha256 }) => media.get(sha256))),
  );
  return { api: target.api, body: isObj(body) ? body : {} };
}

/** Items of an answer with a result for each of its calls, as the next request finds them. */
export function answered(items: readonly AgentItem[]): AgentItem[] {
  const batch = items.find((item) => item.kind === 'tool_call_batch');
  if (batch === undefined) return [...items];
  const results: ToolResultBatch = {
    kind: 'tool_result_batch',
    schemaVersion: 1,
    results: batch.calls.map(({ callId }) => ({ callId, status: 'ok', content: [{ type: 'text', text: 'ok' }] })),
  };
  return [...items, results];
}

/** Tools of a case in the form the product takes; those that the provider runs itself are left out. */
export function toolSpecs(tools: unknown): ToolSpec[] {
  return objs(tools)
    .filter((tool) => tool.type !== 'server')
    .map((tool) => ({
      name: str(tool.name),
      description: str(tool.description, `The tool ${str(tool.name)}.`),
      inputSchema: (isObj(tool.parameters)
        ? tool.parameters
        : { type: 'object', properties: {} }) as ToolSpec['inputSchema'],
    }));
}

/** The vendor's own form of tools that it runs itself. */
export function builtinTools(tools: unknown, target: Target): Obj[] {
  return objs(tools)
    .filter((tool) => tool.type === 'server')
    .map((tool) =>
      target.api === 'anthropic' ? { type: `${str(tool.name)}_20250305`, name: tool.name } : { type: str(tool.name) },
    );
}
