import { pairing, turnOrder } from './openai-chat-order.ts';
import {
  base64,
  boolean,
  collect,
  type Flag,
  imageUrl,
  isObject,
  jsonObjectText,
  keys,
  list,
  matches,
  number,
  type Obj,
  object,
  oneOf,
  string,
  unique,
} from './shape.ts';
import { checkToolNames, checkToolSchema } from './tool-schema.ts';

/** What one server asks beyond, or permits beside, the published Chat Completions schema. */
export interface ChatLaws {
  /** Further keys permitted at the top, in an assistant message, in a tool call, in a tool message. */
  readonly extraKeys: readonly string[];
  readonly extraAssistantKeys: readonly string[];
  readonly extraCallKeys: readonly string[];
  readonly extraToolMessageKeys: readonly string[];
  /** Further part types in an assistant's content. */
  readonly extraParts: readonly string[];
  readonly callId: RegExp;
  readonly maxTools: number;
  /** `$ref` in tool schemas is refused. */
  readonly noRefs: boolean;
  /** Chat templates that want user and assistant in strict turn, the system prompt first and only once. */
  readonly alternation: boolean;
  /** The conversation may not end with the assistant. */
  readonly noFinalAssistant: boolean;
  /** `reasoning_content`: refused, tolerated, or demanded in every assistant message of a turn that used tools. */
  readonly reasoningContent: 'forbidden' | 'allowed' | 'tool_turns';
  /** Declared tools are demanded when the history holds calls. */
  readonly toolsForHistory: boolean;
}

/** OpenAI's own endpoint (https://platform.openai.com/docs/api-reference/chat/create). Call ids: 40 characters is what it accepts. */
const OPENAI_LAWS: ChatLaws = {
  extraKeys: [],
  extraAssistantKeys: [],
  extraCallKeys: [],
  extraToolMessageKeys: [],
  extraParts: [],
  callId: /^[^\s]{1,40}$/,
  maxTools: 128,
  noRefs: false,
  alternation: false,
  noFinalAssistant: false,
  reasoningContent: 'forbidden',
  toolsForHistory: false,
};

const TOP =
  'audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options'.split(
    ' ',
  );
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The rules of Chat Completions that `body` breaks; empty when a strict server takes it. */
export function check(body: unknown, laws: Partial<ChatLaws> = {}): string[] {
  const all: ChatLaws = { ...OPENAI_LAWS, ...laws };
  return collect((flag) => {
    const request = object(body, 'body', flag);
    if (request === undefined) return;
    keys(request, 'body', flag, ['model', 'messages'], [...TOP, ...all.extraKeys]);
    if (string(request.model, 'model', flag) && request.model === '') flag('model', 'is empty');
    settings(request, flag);
    const names = tools(request, flag, all);
    const messages = list(request.messages, 'messages', flag, 1);
    messages.forEach((entry, i) => {
      message(entry, `messages[${i}]`, flag, all);
    });
    const objects = messages.filter(isObject);
    pairing(objects, flag);
    turnOrder(objects, all, flag);
    const calls = objects.some((entry) => entry.role === 'tool' || entry.tool_calls !== undefined);
    if (all.toolsForHistory && calls && names.length === 0) flag('tools', 'must be declared, the history holds calls');
  });
}

function settings(request: Obj, flag: Flag): void {
  const whole = { min: 1, integer: true };
  for (const key of ['max_tokens', 'max_completion_tokens', 'n']) {
    if (request[key] !== undefined && request[key] !== null) number(request[key], key, flag, whole);
  }
  if (request.max_tokens !== undefined && request.max_completion_tokens !== undefined) {
    flag('max_tokens', 'may not stand beside max_completion_tokens');
  }
  if (request.temperature !== undefined) number(request.temperature, 'temperature', flag, { min: 0, max: 2 });
  if (request.top_p !== undefined) number(request.top_p, 'top_p', flag, { min: 0, max: 1 });
  if (request.stream !== undefined) boolean(request.stream, 'stream', flag);
  if (request.reasoning_effort !== undefined) {
    oneOf(
      request.reasoning_effort,
      ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      'reasoning_effort',
      flag,
    );
  }
  if (request.stream_options !== undefined) {
    if (request.stream !== true) flag('stream_options', 'only with stream: true');
    const options = object(request.stream_options, 'stream_options', flag);
    keys(options ?? {}, 'stream_options', flag, [], ['include_usage', 'include_obfuscation']);
    for (const [key, value] of Object.entries(options ?? {})) boolean(value, `stream_options.${key}`, flag);
  }
  if (request.response_format !== undefined) responseFormat(request.response_format, flag);
}

function responseFormat(value: unknown, flag: Flag): void {
  const format = object(value, 'response_format', flag);
  if (format === undefined) return;
  oneOf(format.type, ['text', 'json_object', 'json_schema'], 'response_format.type', flag);
  if (format.type !== 'json_schema') {
    keys(format, 'response_format', flag, ['type'], []);
    return;
  }
  keys(format, 'response_format', flag, ['type', 'json_schema'], []);
  const path = 'response_format.json_schema';
  const named = object(format.json_schema, path, flag);
  if (named === undefined) return;
  keys(named, path, flag, ['name', 'schema'], ['description', 'strict']);
  matches(named.name, NAME, `${path}.name`, flag);
  checkToolSchema(named.schema, `${path}.schema`, flag, { forbiddenAtRoot: ['anyOf'], strict: named.strict === true });
}

function tools(request: Obj, flag: Flag, laws: ChatLaws): unknown[] {
  if (request.tools === undefined) {
    for (const key of ['tool_choice', 'parallel_tool_calls']) {
      if (request[key] !== undefined) flag(key, 'only with tools');
    }
    return [];
  }
  const entries = list(request.tools, 'tools', flag, 1);
  if (entries.length > laws.maxTools) flag('tools', `at most ${laws.maxTools} tools`);
  const names = entries.map((entry, i) => tool(entry, `tools[${i}]`, flag, laws));
  checkToolNames(names, NAME, 'tools', flag);
  if (request.parallel_tool_calls !== undefined) boolean(request.parallel_tool_calls, 'parallel_tool_calls', flag);
  if (request.tool_choice !== undefined) toolChoice(request.tool_choice, names, flag);
  return names;
}

function tool(value: unknown, path: string, flag: Flag, laws: ChatLaws): unknown {
  const entry = object(value, path, flag);
  if (entry === undefined) return undefined;
  keys(entry, path, flag, ['type', 'function'], []);
  oneOf(entry.type, ['function'], `${path}.type`, flag);
  const fn = object(entry.function, `${path}.function`, flag);
  if (fn === undefined) return undefined;
  keys(fn, `${path}.function`, flag, ['name'], ['description', 'parameters', 'strict']);
  if (fn.description !== undefined) string(fn.description, `${path}.function.description`, flag);
  if (fn.strict !== undefined && fn.strict !== null) boolean(fn.strict, `${path}.function.strict`, flag);
  if (fn.parameters !== undefined) {
    checkToolSchema(fn.parameters, `${path}.function.parameters`, flag, {
      forbiddenAtRoot: ['anyOf', 'oneOf', 'allOf', 'enum', 'not'],
      noRefs: laws.noRefs,
      strict: fn.strict === true,
    });
  }
  return fn.name;
}

function toolChoice(choice: unknown, names: readonly unknown[], flag: Flag): void {
  if (typeof choice === 'string') {
    oneOf(choice, ['none', 'auto', 'required'], 'tool_choice', flag);
    return;
  }
  const named = object(choice, 'tool_choice', flag);
  if (named === undefined) return;
  keys(named, 'tool_choice', flag, ['type', 'function'], []);
  oneOf(named.type, ['function'], 'tool_choice.type', flag);
  const fn = object(named.function, 'tool_choice.function', flag);
  if (fn !== undefined) oneOf(fn.name, names, 'tool_choice.function.name', flag);
}

function message(value: unknown, path: string, flag: Flag, laws: ChatLaws): void {
  const entry = object(value, path, flag);
  if (entry === undefined) return;
  switch (entry.role) {
    case 'system':
    case 'developer':
      keys(entry, path, flag, ['role', 'content'], ['name']);
      content(entry.content, `${path}.content`, flag, ['text'], false);
      return;
    case 'user':
      keys(entry, path, flag, ['role', 'content'], ['name']);
      content(entry.content, `${path}.content`, flag, ['text', 'image_url', 'input_audio', 'file'], false);
      return;
    case 'tool':
      keys(entry, path, flag, ['role', 'content', 'tool_call_id'], laws.extraToolMessageKeys);
      matches(entry.tool_call_id, laws.callId, `${path}.tool_call_id`, flag);
      content(entry.content, `${path}.content`, flag, ['text'], true);
      return;
    case 'assistant':
      assistant(entry, path, flag, laws);
      return;
    default:
      flag(`${path}.role`, `${JSON.stringify(entry.role)} is no role`);
  }
}

function assistant(entry: Obj, path: string, flag: Flag, laws: ChatLaws): void {
  const reasoning = laws.reasoningContent === 'forbidden' ? [] : ['reasoning_content'];
  const optional = ['content', 'audio', 'function_call', 'name', 'refusal', 'tool_calls'];
  keys(entry, path, flag, ['role'], [...optional, ...reasoning, ...laws.extraAssistantKeys]);
  if (typeof entry.reasoning_content !== 'undefined')
    string(entry.reasoning_content, `${path}.reasoning_content`, flag);
  const hasCalls = entry.tool_calls !== undefined;
  if (entry.content === undefined || entry.content === null) {
    if (!hasCalls && typeof entry.refusal !== 'string') flag(path, 'needs content, a refusal or tool_calls');
  } else {
    content(entry.content, `${path}.content`, flag, ['text', 'refusal', ...laws.extraParts], hasCalls);
  }
  if (!hasCalls) return;
  const calls = list(entry.tool_calls, `${path}.tool_calls`, flag, 1);
  calls.forEach((call, i) => {
    toolCall(call, `${path}.tool_calls[${i}]`, flag, laws);
  });
  unique(
    calls.filter(isObject).map((call) => call.id),
    `${path}.tool_calls`,
    'id',
    flag,
  );
}

function toolCall(value: unknown, path: string, flag: Flag, laws: ChatLaws): void {
  const call = object(value, path, flag);
  if (call === undefined) return;
  keys(call, path, flag, ['id', 'type', 'function'], laws.extraCallKeys);
  matches(call.id, laws.callId, `${path}.id`, flag);
  oneOf(call.type, ['function'], `${path}.type`, flag);
  const fn = object(call.function, `${path}.function`, flag);
  if (fn === undefined) return;
  keys(fn, `${path}.function`, flag, ['name', 'arguments'], []);
  matches(fn.name, NAME, `${path}.function.name`, flag);
  jsonObjectText(fn.arguments, `${path}.function.arguments`, flag);
}

/** Content as a string or as parts. Empty text is refused by many servers, so a strict one does, except where a tool said nothing. */
function content(value: unknown, path: string, flag: Flag, types: readonly string[], mayBeEmpty: boolean): void {
  if (typeof value === 'string') {
    if (value === '' && !mayBeEmpty) flag(path, 'is empty');
    return;
  }
  list(value, path, flag, 1).forEach((entry, i) => {
    const part = object(entry, `${path}[${i}]`, flag);
    if (part !== undefined && oneOf(part.type, types, `${path}[${i}].type`, flag))
      contentPart(part, `${path}[${i}]`, flag);
  });
}

function contentPart(part: Obj, path: string, flag: Flag): void {
  const type = String(part.type);
  keys(part, path, flag, ['type', type], []);
  if (type === 'text' || type === 'refusal') {
    if (string(part[type], `${path}.${type}`, flag) && part[type] === '') flag(path, 'is empty');
    return;
  }
  if (type === 'thinking') {
    list(part.thinking, `${path}.thinking`, flag, 1);
    return;
  }
  const inner = object(part[type], `${path}.${type}`, flag);
  if (inner === undefined) return;
  if (type === 'image_url') {
    keys(inner, `${path}.image_url`, flag, ['url'], ['detail']);
    imageUrl(inner.url, `${path}.image_url.url`, flag);
    if (inner.detail !== undefined) oneOf(inner.detail, ['auto', 'low', 'high'], `${path}.image_url.detail`, flag);
  } else if (type === 'input_audio') {
    keys(inner, `${path}.input_audio`, flag, ['data', 'format'], []);
    base64(inner.data, `${path}.input_audio.data`, flag);
    oneOf(inner.format, ['wav', 'mp3'], `${path}.input_audio.format`, flag);
  } else {
    keys(inner, `${path}.file`, flag, [], ['file_id', 'file_data', 'filename']);
    if (inner.file_id === undefined && inner.file_data === undefined) flag(path, 'needs file_id or file_data');
    if (inner.file_data !== undefined && inner.filename === undefined) flag(path, 'file_data needs filename');
  }
}
