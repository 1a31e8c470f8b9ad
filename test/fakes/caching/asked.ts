import { isObject, type Obj } from '../../wire-laws/shape.ts';

export type CachingApi = 'openai-chat' | 'anthropic';

/** One message of a request, whatever the wire format: a script reads these and not the body. */
export interface AskedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
}

/** A request as a script sees it. */
export interface Asked {
  readonly api: CachingApi;
  readonly model: string;
  readonly system: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly AskedMessage[];
  /** Everything that the model reads, in order. */
  readonly text: string;
  /** Text of the last user message; tool results do not count. */
  readonly lastUser: string;
  /** Output limit that the request names, in tokens. */
  readonly maxOutput: number | undefined;
  /** Input tokens by the server's own tokenizer. */
  readonly counted: number;
}

/** The request in neutral words. */
export function askedOf(api: CachingApi, body: Obj, counted: number): Asked {
  const raw = objects(body.messages);
  const read = api === 'anthropic' ? raw.flatMap(anthropicMessages) : raw.flatMap(chatMessages);
  const system =
    api === 'anthropic'
      ? textOf(body.system)
      : raw
          .filter(({ role }) => role === 'system' || role === 'developer')
          .map(({ content }) => textOf(content))
          .join('\n\n');
  const limit = body.max_tokens ?? body.max_completion_tokens;
  return {
    api,
    model: String(body.model),
    system,
    toolNames: objects(body.tools).map((tool) => String(isObject(tool.function) ? tool.function.name : tool.name)),
    messages: read,
    text: [
      system,
      ...read.map(({ text, calls }) => [text, ...calls.map((call) => JSON.stringify(call))].join('\n')),
    ].join('\n'),
    lastUser: read.findLast((message) => message.role === 'user')?.text ?? '',
    maxOutput: typeof limit === 'number' ? limit : undefined,
    counted,
  };
}

function chatMessages({ role, content, tool_calls: calls }: Obj): AskedMessage[] {
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return [];
  const asked = objects(calls).map((call) => {
    const fn = isObject(call.function) ? call.function : {};
    return { name: String(fn.name), args: parsed(String(fn.arguments)) };
  });
  return [{ role, text: textOf(content), calls: asked }];
}

/** Tool results stand in the user's messages here; they are told apart. */
function anthropicMessages({ role, content }: Obj): AskedMessage[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ name, input }) => ({ name: String(name), args: input }));
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const text = textOf(blocks.filter(({ type }) => type === 'text'));
  if (role === 'assistant') return [{ role, text, calls }];
  return [
    ...results.map((result): AskedMessage => ({ role: 'tool', text: textOf(result.content), calls: [] })),
    ...(text === '' ? [] : [{ role: 'user' as const, text, calls: [] }]),
  ];
}

/** Text of content in any of its forms; media leave nothing. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

export function objects(value: unknown): Obj[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
