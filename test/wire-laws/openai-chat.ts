import { content } from './openai-chat-content.ts';
import { pairing, turnOrder } from './openai-chat-order.ts';
import { settings } from './openai-chat-settings.ts';
import {
  boolean,
  collect,
  type Flag,
  isObject,
  jsonObjectText,
  keys,
  list,
  matches,
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
