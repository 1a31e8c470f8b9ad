import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { MessageRequest, StopReason, ToolChoice, ToolSpec, UnifiedStopReason, Usage } from '../message.ts';
import type { Loss } from './context.ts';

/** Everything of a request but its messages. */
export type RequestSettings = Omit<MessageRequest, 'messages'>;

const HANDLED = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'reasoning_effort',
  'response_format',
];
/** Say how an answer travels, not what is asked. */
const TRANSPORT = ['stream', 'stream_options', 'user', 'store', 'metadata', 'parallel_tool_calls'];
const EFFORTS = ['low', 'medium', 'high'] as const;

export function readSettings(body: JsonObject, lose: (loss: Loss) => void): RequestSettings {
  for (const key of Object.keys(body)) {
    if (!HANDLED.includes(key) && !TRANSPORT.includes(key)) lose({ index: null, detail: `setting ${key}` });
  }
  const limit = body.max_completion_tokens ?? body.max_tokens;
  const choice = readChoice(body.tool_choice);
  const format = readFormat(body.response_format, lose);
  const effort = EFFORTS.find((word) => word === body.reasoning_effort);
  if (body.reasoning_effort !== undefined && effort === undefined && body.reasoning_effort !== 'none') {
    lose({ index: null, detail: `reasoning_effort ${String(body.reasoning_effort)}` });
  }
  return {
    model: typeof body.model === 'string' ? body.model : '',
    tools: objects(body.tools).flatMap(readTool),
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(typeof limit === 'number' ? { maxOutputTokens: limit } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(effort !== undefined
      ? { thinking: { effort } }
      : body.reasoning_effort === 'none'
        ? { thinking: 'off' as const }
        : {}),
    ...(format === undefined ? {} : { outputSchema: format }),
  };
}

export function writeSettings(request: RequestSettings): JsonObject {
  const { thinking, outputSchema, tools, toolChoice } = request;
  const effort = thinking === 'off' ? 'none' : thinking?.effort;
  return {
    model: request.model,
    ...(tools.length === 0 ? {} : { tools: tools.map(writeTool) }),
    ...(toolChoice === undefined
      ? {}
      : {
          tool_choice:
            typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } },
        }),
    ...(request.maxOutputTokens === undefined ? {} : { max_completion_tokens: request.maxOutputTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(outputSchema === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            json_schema: { name: outputSchema.name, schema: outputSchema.schema },
          },
        }),
  };
}

function readTool(entry: JsonObject): ToolSpec[] {
  const fn = entry.function;
  if (!isJsonObject(fn) || typeof fn.name !== 'string') return [];
  const description = typeof fn.description === 'string' ? fn.description : '';
  return [
    {
      name: fn.name,
      description,
      inputSchema: isJsonObject(fn.parameters) ? fn.parameters : { type: 'object', properties: {} },
    },
  ];
}

function writeTool({ name, description, inputSchema }: ToolSpec): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function readChoice(choice: Json | undefined): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const fn = isJsonObject(choice) ? choice.function : undefined;
  return isJsonObject(fn) && typeof fn.name === 'string' ? { name: fn.name } : undefined;
}

function readFormat(format: Json | undefined, lose: (loss: Loss) => void): MessageRequest['outputSchema'] {
  const named = isJsonObject(format) ? format.json_schema : undefined;
  if (isJsonObject(named) && typeof named.name === 'string' && isJsonObject(named.schema))
    return { name: named.name, schema: named.schema };
  if (isJsonObject(format) && format.type !== 'text')
    lose({ index: null, detail: `response_format ${String(format.type)}` });
  return undefined;
}

const STOP: Readonly<Record<string, UnifiedStopReason>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
};

/** The word that Chat Completions has for each of ours. */
const FINISH: Readonly<Record<UnifiedStopReason, string>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  refusal: 'stop',
  content_filter: 'content_filter',
  pause: 'stop',
  context_overflow: 'length',
};

export function readFinish(raw: Json | undefined, refused: boolean): StopReason {
  const word = typeof raw === 'string' ? raw : null;
  const known = word !== null && Object.hasOwn(STOP, word) ? STOP[word] : undefined;
  return { unified: refused && known === 'stop' ? 'refusal' : (known ?? 'stop'), raw: word };
}

export function writeFinish({ unified, raw }: StopReason): string {
  return raw !== null && Object.hasOwn(STOP, raw) ? raw : FINISH[unified];
}

export function readUsage(usage: Json | undefined): Usage | null {
  if (!isJsonObject(usage)) return null;
  const cached = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details.cached_tokens : 0;
  const reasoning = isJsonObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details.reasoning_tokens
    : 0;
  const read: Usage = {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cacheReadTokens: count(cached),
    cacheWriteTokens: 0,
    reasoningTokens: count(reasoning),
  };
  return read.inputTokens === 0 && read.outputTokens === 0 ? null : read;
}

export function writeUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}
