import type Anthropic from '@anthropic-ai/sdk';
import type { ReplayScope } from '../../transcript/items.ts';
import type { Message, MessageRequest } from '../../transcript/message.ts';
import { WIRE_ID_RULES, wireIdsOf } from '../../transcript/wire-ids.ts';
import { wireName } from '../../transcript/wire-name.ts';
import type { MediaLookup } from '../provider.ts';
import { wireTools } from '../schema/wire-tools.ts';
import { anthropicFormat } from '../structured-output.ts';
import { systemText } from '../system-text.ts';
import type { WireLoss } from '../wire-loss.ts';
import { pairedBuiltins } from './builtin-pairs.ts';
import { type CacheMark, markedTurns } from './cache-marks.ts';
import { type AnthropicOptions, thinkingStyle } from './options.ts';
import { thinkingSettings } from './thinking.ts';
import { openTurnOf, wireTurns } from './turns.ts';

/** The vendor's type no longer knows `temperature`, which older models still take. */
export type AnthropicBody = Anthropic.Messages.MessageCreateParamsStreaming & { readonly temperature?: number };

export interface AnthropicWire {
  readonly body: AnthropicBody;
  /** What the body does not carry; for the log and the loss report. */
  readonly losses: readonly WireLoss[];
}

export interface ToWireContext {
  readonly scope: ReplayScope;
  readonly media?: MediaLookup | undefined;
  readonly options?: AnthropicOptions;
}

const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** A request in the form of the Messages API. Pure and total, save for tools that no wire can carry (see `wireTools`). */
export function toWire(request: MessageRequest, { scope, media, options = {} }: ToWireContext): AnthropicWire {
  const losses: WireLoss[] = [];
  const lose = (loss: WireLoss): void => void losses.push(loss);
  const mark: CacheMark | undefined = options.promptCache === 'off' ? undefined : cacheMark(options);
  const turns = wireTurns(request.messages, {
    scope,
    media,
    takesImages: options.takesImages?.(request.model) ?? true,
    unsignedThinking: options.unsignedThinking ?? 'drop',
    callIds: wireIdsOf(request.messages, WIRE_ID_RULES.anthropic),
    builtinIds: pairedBuiltins(request.messages, scope),
    lose,
  });
  const maxTokens = request.maxOutputTokens ?? options.defaultMaxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  const settings = thinkingSettings(request, maxTokens, openTurnOf(turns), options);
  if (settings.loss !== undefined) lose({ code: 'setting', detail: settings.loss });
  const body: AnthropicBody = {
    model: request.model,
    max_tokens: maxTokens,
    ...systemOf(request.messages, mark, lose),
    ...toolsOf(request, options, mark),
    messages: [...(mark === undefined ? turns : markedTurns(turns, mark))],
    ...(settings.thinking === undefined ? {} : { thinking: settings.thinking }),
    ...outputConfig(request, settings.effort),
    ...temperatureOf(request, settings.thinking, options),
    stream: true,
  };
  return { body, losses };
}

function cacheMark(options: AnthropicOptions): CacheMark {
  return options.promptCache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}

/** All system messages as one text: the wire has one place for it, and takes nothing but text there. */
function systemOf(
  messages: readonly Message[],
  mark: CacheMark | undefined,
  lose: (loss: WireLoss) => void,
): { system?: Anthropic.Messages.TextBlockParam[] } {
  const text = systemText(messages, lose);
  return text === ''
    ? {}
    : { system: [{ type: 'text', text, ...(mark === undefined ? {} : { cache_control: mark }) }] };
}

function toolsOf(
  request: MessageRequest,
  options: AnthropicOptions,
  mark: CacheMark | undefined,
): { tools?: Anthropic.Messages.ToolUnion[]; tool_choice?: Anthropic.Messages.ToolChoice } {
  const own = wireTools(request.tools, { refs: 'keep', strict: 'off' }).map(
    ({ name, description, schema }): Anthropic.Messages.Tool => ({
      name,
      description,
      input_schema: schema as unknown as Anthropic.Messages.Tool.InputSchema,
    }),
  );
  const declared = own.length > 0 ? own : withdrawnTools(request.messages);
  const builtin = (options.builtinTools ?? []).map((tool) => tool as unknown as Anthropic.Messages.ToolUnion);
  const tools: Anthropic.Messages.ToolUnion[] = [...builtin, ...declared];
  const last = tools.at(-1);
  if (last === undefined) return {};
  if (mark !== undefined) tools[tools.length - 1] = { ...last, cache_control: mark } as Anthropic.Messages.ToolUnion;
  const choice = own.length === 0 && declared.length > 0 ? ({ type: 'none' } as const) : toolChoice(request);
  return { tools, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

/** "Requests which include `tool_use` or `tool_result` blocks must define tools": those of the history, where none is offered now. */
function withdrawnTools(messages: readonly Message[]): readonly Anthropic.Messages.Tool[] {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Set(blocks.flatMap((block) => (block.type === 'tool_use' ? [wireName(block.name)] : [])));
  const description = 'No longer available.';
  return [...names].map((name) => ({ name, description, input_schema: { type: 'object', properties: {} } }));
}

function toolChoice({ toolChoice, tools }: MessageRequest): Anthropic.Messages.ToolChoice | undefined {
  if (toolChoice === undefined || toolChoice === 'auto') return undefined;
  if (toolChoice === 'none') return { type: 'none' };
  if (tools.length === 0) return undefined;
  return toolChoice === 'required' ? { type: 'any' } : { type: 'tool', name: wireName(toolChoice.name) };
}

function outputConfig(
  request: MessageRequest,
  effort: 'low' | 'medium' | 'high' | undefined,
): { output_config?: Anthropic.Messages.OutputConfig } {
  const format = request.outputSchema === undefined ? {} : { format: anthropicFormat(request.outputSchema) };
  const config = { ...format, ...(effort === undefined ? {} : { effort }) };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

/**
 * Thinking fixes the temperature, and the scale ends at 1 here. Models that think adaptively take none at all, which is why
 * the vendor's own type of a request has lost the key.
 */
function temperatureOf(
  { temperature, model }: MessageRequest,
  thinking: Anthropic.Messages.ThinkingConfigParam | undefined,
  options: AnthropicOptions,
): { temperature?: number } {
  if (temperature === undefined || (thinking !== undefined && thinking.type !== 'disabled')) return {};
  if ((options.thinkingStyle ?? thinkingStyle)(model) === 'adaptive') return {};
  return { temperature: Math.min(1, Math.max(0, temperature)) };
}
