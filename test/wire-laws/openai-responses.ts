import { checkItem } from './openai-responses-items.ts';
import { checkOrder } from './openai-responses-order.ts';
import {
  boolean,
  collect,
  type Flag,
  isObject,
  keys,
  list,
  matches,
  number,
  type Obj,
  object,
  oneOf,
  string,
} from './shape.ts';
import { checkToolNames, checkToolSchema } from './tool-schema.ts';

export interface ResponsesLaws {
  /** Whether every item id must stand behind the reasoning item it was made with (reasoning models). */
  readonly reasoningModel: boolean;
  /** Reasoning goes back as `content: [{ type: 'reasoning_text' }]` instead of encrypted (other vendors' endpoints). */
  readonly plainReasoning: boolean;
  readonly extraKeys: readonly string[];
}

const RESPONSES_LAWS: ResponsesLaws = { reasoningModel: false, plainReasoning: false, extraKeys: [] };

const TOP =
  'background context_management conversation include instructions max_output_tokens max_tool_calls metadata moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user'.split(
    ' ',
  );
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const BUILTIN =
  /^(web_search(_preview)?(_\d{4}_\d{2}_\d{2})?|file_search|code_interpreter|computer(_use_preview)?|image_generation|mcp|local_shell|shell|apply_patch|custom|namespace|tool_search|programmatic_tool_calling)$/;

/** The rules of the Responses API (https://platform.openai.com/docs/api-reference/responses/create) that `body` breaks. */
export function check(body: unknown, laws: Partial<ResponsesLaws> = {}): string[] {
  const all: ResponsesLaws = { ...RESPONSES_LAWS, ...laws };
  return collect((flag) => {
    const request = object(body, 'body', flag);
    if (request === undefined) return;
    keys(request, 'body', flag, ['model', 'input'], [...TOP, ...all.extraKeys]);
    if (string(request.model, 'model', flag) && request.model === '') flag('model', 'is empty');
    settings(request, flag);
    tools(request, flag);
    if (typeof request.input === 'string') {
      if (request.input === '') flag('input', 'is empty');
      return;
    }
    const items = list(request.input, 'input', flag, 1);
    items.forEach((item, i) => {
      checkItem(item, `input[${i}]`, flag);
    });
    checkOrder(items.filter(isObject), request, all, flag);
  });
}

function settings(request: Obj, flag: Flag): void {
  if (request.max_output_tokens !== undefined) {
    number(request.max_output_tokens, 'max_output_tokens', flag, { min: 16, integer: true });
  }
  if (request.temperature !== undefined) number(request.temperature, 'temperature', flag, { min: 0, max: 2 });
  if (request.top_p !== undefined) number(request.top_p, 'top_p', flag, { min: 0, max: 1 });
  for (const key of ['stream', 'store', 'parallel_tool_calls', 'background']) {
    if (request[key] !== undefined) boolean(request[key], key, flag);
  }
  if (request.instructions !== undefined && request.instructions !== null)
    string(request.instructions, 'instructions', flag);
  if (request.store === false && request.previous_response_id !== undefined) {
    flag('previous_response_id', 'nothing is stored that it could name');
  }
  if (request.include !== undefined) {
    for (const entry of list(request.include, 'include', flag)) string(entry, 'include', flag);
  }
  reasoning(request, flag);
  textFormat(request.text, flag);
}

function reasoning(request: Obj, flag: Flag): void {
  if (request.reasoning === undefined || request.reasoning === null) return;
  const config = object(request.reasoning, 'reasoning', flag);
  if (config === undefined) return;
  keys(config, 'reasoning', flag, [], ['effort', 'summary', 'generate_summary', 'context', 'mode']);
  if (config.effort !== undefined && config.effort !== null) {
    oneOf(config.effort, ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], 'reasoning.effort', flag);
  }
  if (config.summary !== undefined && config.summary !== null) {
    oneOf(config.summary, ['auto', 'concise', 'detailed'], 'reasoning.summary', flag);
  }
}

function textFormat(value: unknown, flag: Flag): void {
  if (value === undefined) return;
  const text = object(value, 'text', flag);
  if (text === undefined) return;
  keys(text, 'text', flag, [], ['format', 'verbosity']);
  const format = text.format === undefined ? undefined : object(text.format, 'text.format', flag);
  if (format === undefined) return;
  oneOf(format.type, ['text', 'json_object', 'json_schema'], 'text.format.type', flag);
  if (format.type !== 'json_schema') return;
  keys(format, 'text.format', flag, ['type', 'name', 'schema'], ['description', 'strict']);
  matches(format.name, NAME, 'text.format.name', flag);
  checkToolSchema(format.schema, 'text.format.schema', flag, {
    forbiddenAtRoot: ['anyOf'],
    strict: format.strict === true,
  });
}

function tools(request: Obj, flag: Flag): void {
  if (request.tools === undefined) {
    if (request.tool_choice !== undefined && request.tool_choice !== 'none' && request.tool_choice !== 'auto') {
      flag('tool_choice', 'only with tools');
    }
    return;
  }
  const entries = list(request.tools, 'tools', flag, 1);
  if (entries.length > 128) flag('tools', 'at most 128 tools');
  const names = entries.flatMap((entry, i) => {
    const tool = object(entry, `tools[${i}]`, flag);
    if (tool === undefined) return [];
    if (tool.type === 'function') return [functionTool(tool, `tools[${i}]`, flag)];
    if (typeof tool.type !== 'string' || !BUILTIN.test(tool.type)) flag(`tools[${i}].type`, 'is no known tool type');
    return [];
  });
  checkToolNames(names, NAME, 'tools', flag);
  if (request.tool_choice !== undefined) toolChoice(request.tool_choice, names, flag);
}

function functionTool(tool: Obj, path: string, flag: Flag): unknown {
  const optional = ['description', 'strict', 'allowed_callers', 'defer_loading', 'output_schema'];
  keys(tool, path, flag, ['type', 'name', 'parameters'], optional);
  if (tool.description !== undefined && tool.description !== null)
    string(tool.description, `${path}.description`, flag);
  if (tool.strict !== undefined && tool.strict !== null) boolean(tool.strict, `${path}.strict`, flag);
  checkToolSchema(tool.parameters, `${path}.parameters`, flag, {
    forbiddenAtRoot: ['anyOf', 'oneOf', 'allOf', 'enum', 'not'],
    strict: tool.strict === true,
  });
  return tool.name;
}

function toolChoice(choice: unknown, names: readonly unknown[], flag: Flag): void {
  if (typeof choice === 'string') {
    oneOf(choice, ['none', 'auto', 'required'], 'tool_choice', flag);
    return;
  }
  const named = object(choice, 'tool_choice', flag);
  if (named === undefined) return;
  if (string(named.type, 'tool_choice.type', flag) && named.type === 'function') {
    keys(named, 'tool_choice', flag, ['type', 'name'], []);
    oneOf(named.name, names, 'tool_choice.name', flag);
  } else if (typeof named.type === 'string' && !BUILTIN.test(named.type) && named.type !== 'allowed_tools') {
    flag('tool_choice.type', 'is no known choice');
  }
}
