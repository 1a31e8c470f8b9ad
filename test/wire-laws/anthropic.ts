import { checkBlock } from './anthropic-blocks.ts';
import { checkConversation, hasCalls } from './anthropic-order.ts';
import {
  boolean,
  collect,
  type Flag,
  isBlank,
  isObject,
  keys,
  list,
  number,
  type Obj,
  object,
  oneOf,
  string,
} from './shape.ts';
import { checkToolNames, checkToolSchema } from './tool-schema.ts';

export interface AnthropicLaws {
  /** Whether the last message may be the assistant's (newer models refuse it). */
  readonly prefill: boolean;
  /** Whether thinking blocks must carry a real signature; compatible endpoints of other vendors have none. */
  readonly signatures: boolean;
  /** Further keys permitted at the top. */
  readonly extraKeys: readonly string[];
}

const ANTHROPIC_LAWS: AnthropicLaws = { prefill: true, signatures: true, extraKeys: [] };

const TOP =
  'cache_control container context_management diagnostics inference_geo metadata output_config service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p user_profile_id workspace_id'.split(
    ' ',
  );
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SERVER_TOOL =
  /^(web_search|web_fetch|code_execution|bash|text_editor|computer|memory|tool_search_tool_(bm25|regex)|browser_toolset|computer_toolset)_\d{8}$/;

/** The rules of the Messages API (https://docs.claude.com/en/api/messages) that `body` breaks; empty when a strict server takes it. */
export function check(body: unknown, laws: Partial<AnthropicLaws> = {}): string[] {
  const all: AnthropicLaws = { ...ANTHROPIC_LAWS, ...laws };
  return collect((flag) => {
    const request = object(body, 'body', flag);
    if (request === undefined) return;
    keys(request, 'body', flag, ['model', 'max_tokens', 'messages'], [...TOP, ...all.extraKeys]);
    if (string(request.model, 'model', flag) && request.model === '') flag('model', 'is empty');
    settings(request, flag);
    thinking(request, flag);
    if (request.system !== undefined) system(request.system, flag, all);
    const tools = checkTools(request, flag);
    const messages = list(request.messages, 'messages', flag, 1);
    messages.forEach((entry, i) => {
      checkMessage(entry, `messages[${i}]`, flag, all);
    });
    checkConversation(messages.filter(isObject), request, all, flag);
    if (tools === 0 && hasCalls(messages.filter(isObject))) flag('tools', 'must be declared, the history holds calls');
    cacheControl(request, flag);
  });
}

function settings(request: Obj, flag: Flag): void {
  number(request.max_tokens, 'max_tokens', flag, { min: 1, integer: true });
  if (request.temperature !== undefined) number(request.temperature, 'temperature', flag, { min: 0, max: 1 });
  if (request.top_p !== undefined) number(request.top_p, 'top_p', flag, { min: 0, max: 1 });
  if (request.top_k !== undefined) number(request.top_k, 'top_k', flag, { min: 0, integer: true });
  if (request.stream !== undefined) boolean(request.stream, 'stream', flag);
  if (request.stop_sequences !== undefined) {
    for (const entry of list(request.stop_sequences, 'stop_sequences', flag)) {
      if (string(entry, 'stop_sequences', flag) && isBlank(entry))
        flag('stop_sequences', 'each must hold more than white space');
    }
  }
  if (request.output_config !== undefined) {
    const output = object(request.output_config, 'output_config', flag);
    if (output === undefined) return;
    keys(output, 'output_config', flag, [], ['effort', 'format', 'task_budget']);
    if (output.effort !== undefined)
      oneOf(output.effort, ['low', 'medium', 'high', 'xhigh', 'max'], 'output_config.effort', flag);
    if (isObject(output.format)) oneOf(output.format.type, ['json_schema'], 'output_config.format.type', flag);
  }
}

/** https://docs.claude.com/en/docs/build-with-claude/extended-thinking, "Feature compatibility" and "Max tokens". */
function thinking(request: Obj, flag: Flag): void {
  if (request.thinking === undefined) return;
  const config = object(request.thinking, 'thinking', flag);
  if (config === undefined || !oneOf(config.type, ['enabled', 'disabled', 'adaptive'], 'thinking.type', flag)) return;
  keys(config, 'thinking', flag, config.type === 'enabled' ? ['type', 'budget_tokens'] : ['type'], ['display']);
  if (config.type === 'disabled') return;
  if (config.type === 'enabled') {
    number(config.budget_tokens, 'thinking.budget_tokens', flag, { min: 1024, integer: true });
    if (Number(config.budget_tokens) >= Number(request.max_tokens)) {
      flag('thinking.budget_tokens', 'must be less than max_tokens');
    }
  }
  if (request.temperature !== undefined && request.temperature !== 1) flag('temperature', 'must be 1 with thinking');
  if (request.top_k !== undefined) flag('top_k', 'may not be set with thinking');
  if (typeof request.top_p === 'number' && request.top_p < 0.95) flag('top_p', 'must be at least 0.95 with thinking');
  const choice = isObject(request.tool_choice) ? request.tool_choice.type : undefined;
  if (choice === 'any' || choice === 'tool') flag('tool_choice', 'thinking may not be enabled when a tool is forced');
}

function system(value: unknown, flag: Flag, laws: AnthropicLaws): void {
  if (typeof value === 'string') {
    if (isBlank(value)) flag('system', 'is empty');
    return;
  }
  list(value, 'system', flag, 1).forEach((block, i) => {
    if (isObject(block)) oneOf(block.type, ['text'], `system[${i}].type`, flag);
    checkBlock(block, `system[${i}]`, 'user', flag, laws.signatures);
  });
}

/** Returns how many tools are declared. */
function checkTools(request: Obj, flag: Flag): number {
  if (request.tools === undefined) {
    if (request.tool_choice !== undefined) flag('tool_choice', 'only with tools');
    return 0;
  }
  const entries = list(request.tools, 'tools', flag, 1);
  const names = entries.map((entry, i) => {
    const tool = object(entry, `tools[${i}]`, flag);
    if (tool !== undefined) checkTool(tool, `tools[${i}]`, flag);
    return tool?.name;
  });
  checkToolNames(names, TOOL_NAME, 'tools', flag);
  if (request.tool_choice !== undefined) toolChoice(request.tool_choice, names, flag);
  return entries.length;
}

function checkTool(tool: Obj, path: string, flag: Flag): void {
  if (tool.type !== undefined && tool.type !== 'custom') {
    if (typeof tool.type !== 'string' || !SERVER_TOOL.test(tool.type)) flag(`${path}.type`, 'is no known tool type');
    return;
  }
  const optional =
    'type description cache_control allowed_callers defer_loading eager_input_streaming input_examples strict'.split(
      ' ',
    );
  keys(tool, path, flag, ['name', 'input_schema'], optional);
  if (tool.description !== undefined) string(tool.description, `${path}.description`, flag);
  checkToolSchema(tool.input_schema, `${path}.input_schema`, flag, { forbiddenAtRoot: ['oneOf', 'allOf', 'anyOf'] });
}

function toolChoice(value: unknown, names: readonly unknown[], flag: Flag): void {
  const choice = object(value, 'tool_choice', flag);
  if (choice === undefined || !oneOf(choice.type, ['auto', 'any', 'tool', 'none'], 'tool_choice.type', flag)) return;
  const named = choice.type === 'tool';
  keys(
    choice,
    'tool_choice',
    flag,
    named ? ['type', 'name'] : ['type'],
    choice.type === 'none' ? [] : ['disable_parallel_tool_use'],
  );
  if (named) oneOf(choice.name, names, 'tool_choice.name', flag);
}

function checkMessage(value: unknown, path: string, flag: Flag, laws: AnthropicLaws): void {
  const message = object(value, path, flag);
  if (message === undefined) return;
  keys(message, path, flag, ['role', 'content'], []);
  if (!oneOf(message.role, ['user', 'assistant'], `${path}.role`, flag)) return;
  const role = message.role === 'user' ? 'user' : 'assistant';
  if (typeof message.content === 'string') {
    if (isBlank(message.content))
      flag(`${path}.content`, 'text content must be non-empty and hold more than white space');
    return;
  }
  list(message.content, `${path}.content`, flag, 1).forEach((block, i) => {
    checkBlock(block, `${path}.content[${i}]`, role, flag, laws.signatures);
  });
}

/** At most four marks; a long one (1h) stands before a short one (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). */
function cacheControl(request: Obj, flag: Flag): void {
  const marks: unknown[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'cache_control' && inner !== null) marks.push(inner);
      else if (key !== 'input' && key !== 'input_schema') walk(inner);
    }
  };
  walk(request.tools);
  walk(request.system);
  walk(request.messages);
  if (request.cache_control !== undefined) marks.push(request.cache_control);
  if (marks.length > 4) flag('cache_control', `at most 4 blocks may carry it, found ${marks.length}`);
  let shortSeen = false;
  for (const mark of marks) {
    const entry = object(mark, 'cache_control', flag);
    if (entry === undefined) continue;
    keys(entry, 'cache_control', flag, ['type'], ['ttl']);
    oneOf(entry.type, ['ephemeral'], 'cache_control.type', flag);
    if (entry.ttl !== undefined) oneOf(entry.ttl, ['5m', '1h'], 'cache_control.ttl', flag);
    if (entry.ttl === '1h' && shortSeen) flag('cache_control.ttl', 'a 1h mark must not come after a 5m mark');
    if (entry.ttl !== '1h') shortSeen = true;
  }
}
