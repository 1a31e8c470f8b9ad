import type OpenAI from 'openai';
import type { ReplayScope } from '../../transcript/items.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type { MessageRequest } from '../../transcript/message.ts';
import { wireName } from '../../transcript/wire-name.ts';
import type { MediaLookup } from '../provider.ts';
import { shaped, type WireTool, wireTools } from '../schema/wire-tools.ts';
import type { WireLoss } from '../wire-loss.ts';
import type { Dialect } from './dialects.ts';
import { wireMessages } from './messages.ts';
import { reasoningPlan, thinkingSwitch } from './reasoning.ts';

/** What goes out: the vendor's request, and keys that other servers added to it. */
export type ChatBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming & Readonly<Record<string, unknown>>;

export interface ChatWire {
  readonly body: ChatBody;
  /** What the body does not carry; for the log and the loss report. */
  readonly losses: readonly WireLoss[];
}

export interface ToWireContext {
  readonly scope: ReplayScope;
  readonly dialect: Dialect;
  readonly media?: MediaLookup | undefined;
  readonly takesImages?: ((model: string) => boolean) | undefined;
}

/** A request in the form of Chat Completions. Pure and total, save for tools that no wire can carry (see `wireTools`). */
export function toWire(request: MessageRequest, context: ToWireContext): ChatWire {
  const { dialect } = context;
  const losses: WireLoss[] = [];
  const lose = (loss: WireLoss): void => void losses.push(loss);
  const plan = reasoningPlan(request, context.scope, dialect.reasoning);
  const body: ChatBody = {
    model: request.model,
    messages: wireMessages(request, {
      ...context,
      takesImages: dialect.media.images && (context.takesImages?.(request.model) ?? true),
      plan,
      schemaNote: schemaNote(request, dialect),
      lose,
    }),
    stream: true,
    ...(dialect.streamUsage ? { stream_options: { include_usage: true } } : {}),
    ...toolsOf(request, dialect),
    ...(request.maxOutputTokens === undefined ? {} : { [dialect.tokenLimit]: request.maxOutputTokens }),
    ...temperatureOf(request, dialect, lose),
    ...thinkingSwitch(plan.disabled ? { ...request, thinking: 'off' } : request, dialect.reasoning),
    ...formatOf(request, dialect),
  };
  return { body, losses };
}

type ToolKeys = Pick<ChatBody, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

function toolsOf(request: MessageRequest, dialect: Dialect): ToolKeys {
  const tools = wireTools(request.tools, dialect.tools).map(functionTool);
  if (tools.length === 0) return dialect.toolsForHistory ? toolsOfHistory(request) : {};
  const choice = toolChoice(request);
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(dialect.askParallel ? { parallel_tool_calls: true } : {}),
  };
}

function functionTool({
  name,
  description,
  schema,
  strict,
}: WireTool): OpenAI.Chat.Completions.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: { name, description, parameters: { ...schema }, ...(strict ? { strict } : {}) },
  };
}

/** Tools that earlier messages call, declared so that the history is accepted, and not to be called. */
function toolsOfHistory(request: MessageRequest): ToolKeys {
  const names = new Set<string>();
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) if (block.type === 'tool_use') names.add(wireName(block.name));
  }
  if (names.size === 0) return {};
  const tools = [...names].map((name) =>
    functionTool({
      name,
      description: 'Used earlier; not available now.',
      schema: { type: 'object', properties: {} },
      strict: false,
    }),
  );
  return { tools, tool_choice: 'none' };
}

function toolChoice({ toolChoice: choice }: MessageRequest): ChatBody['tool_choice'] {
  if (choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none' || choice === 'required') return choice;
  return { type: 'function', function: { name: wireName(choice.name) } };
}

function temperatureOf(
  { temperature, model }: MessageRequest,
  { fixedTemperature }: Dialect,
  lose: (loss: WireLoss) => void,
): { temperature?: number } {
  if (temperature === undefined) return {};
  if (fixedTemperature?.test(model) !== true) return { temperature };
  lose({ code: 'setting', detail: `${model} has a fixed temperature` });
  return {};
}

function formatOf({ outputSchema }: MessageRequest, dialect: Dialect): Pick<ChatBody, 'response_format'> {
  if (outputSchema === undefined || dialect.structured === 'prompt') return {};
  if (dialect.structured === 'json_object') return { response_format: { type: 'json_object' } };
  const { schema, strict } = shaped(outputSchema.schema, dialect.tools);
  const format = { name: wireName(outputSchema.name), schema: { ...schema }, ...(strict ? { strict } : {}) };
  return { response_format: { type: 'json_schema', json_schema: format } };
}

/** Where the wire cannot carry a schema, words must; servers with a bare JSON mode even demand the word JSON in the prompt. */
function schemaNote({ outputSchema }: MessageRequest, dialect: Dialect): string | undefined {
  if (outputSchema === undefined || dialect.structured === 'json_schema') return undefined;
  const schema: JsonObject = outputSchema.schema;
  return `Give your final answer as JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
}
