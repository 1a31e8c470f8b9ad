import type OpenAI from 'openai';
import type { ReplayScope } from '../../transcript/items.ts';
import type { Message, MessageRequest, ToolMessage } from '../../transcript/message.ts';
import { WIRE_ID_RULES, wireIdsOf } from '../../transcript/wire-ids.ts';
import { wireName } from '../../transcript/wire-name.ts';
import type { MediaContext } from '../media-or-note.ts';
import type { MediaLookup } from '../provider.ts';
import { wireTools } from '../schema/wire-tools.ts';
import { GO_ON } from '../stand-ins.ts';
import { responsesFormat } from '../structured-output.ts';
import { systemText } from '../system-text.ts';
import type { WireLoss } from '../wire-loss.ts';
import { assistantItems, customCalls } from './assistant-items.ts';
import { inputContent, outputContent } from './content.ts';
import { type ModelTraits, modelTraits, type ResponsesOptions } from './options.ts';
import type { AssistantContext, InputItem } from './reasoning-items.ts';

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming;

export interface ResponsesWire {
  readonly body: ResponsesBody;
  /** What the body does not carry; for the log and the loss report. */
  readonly losses: readonly WireLoss[];
}

export interface ToWireContext {
  readonly scope: ReplayScope;
  /** Id of the provider in the registry. */
  readonly provider: string;
  readonly media?: MediaLookup | undefined;
  readonly options?: ResponsesOptions;
}

/** The least that `max_output_tokens` may be. */
const MIN_OUTPUT_TOKENS = 16;

/** A request in the form of the Responses API. Pure and total, save for tools that no wire can carry (see `wireTools`). */
export function toWire(request: MessageRequest, context: ToWireContext): ResponsesWire {
  const { scope, provider, media, options = {} } = context;
  const losses: WireLoss[] = [];
  const lose = (loss: WireLoss): void => void losses.push(loss);
  const store = options.store ?? false;
  const callIds = wireIdsOf(request.messages, WIRE_ID_RULES['openai-responses']);
  const custom = customCalls(request.messages, scope);
  const assistant: AssistantContext = {
    scope,
    provider,
    reasoning: options.reasoning ?? 'encrypted',
    store,
    callIds,
    custom,
    lose,
  };
  const user: MediaContext = { media, takesImages: options.takesImages?.(request.model) ?? true, lose };
  const input = request.messages.flatMap((message, index) => inputItems(message, index, assistant, user));
  const traits = (options.traits ?? modelTraits)(request.model);
  const wantsEncrypted = !store && assistant.reasoning === 'encrypted' && traits.reasons !== 'no';
  const body: ResponsesBody = {
    model: request.model,
    ...instructionsOf(request.messages, lose),
    input:
      input.length === 0 ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: GO_ON }] }] : input,
    ...toolsOf(request, options),
    ...limitsOf(request, traits),
    ...reasoningOf(request, traits, lose),
    ...(request.outputSchema === undefined ? {} : { text: { format: responsesFormat(request.outputSchema) } }),
    ...(wantsEncrypted ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(options.promptCacheKey === undefined ? {} : { prompt_cache_key: options.promptCacheKey }),
    store,
    stream: true,
  };
  return { body, losses };
}

function inputItems(
  message: Message,
  index: number,
  assistant: AssistantContext,
  user: MediaContext,
): readonly InputItem[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user': {
      const content = inputContent(message.content, index, user);
      return content.length === 0 ? [] : [{ type: 'message', role: 'user', content: [...content] }];
    }
    case 'assistant':
      return assistantItems(message, index, assistant);
    case 'tool':
      return resultItems(message, index, assistant, user);
  }
}

/** Results by their calls' ids; one whose call is not in the request would be refused ("No tool call found"). */
function resultItems(
  message: ToolMessage,
  index: number,
  { callIds, custom }: AssistantContext,
  context: MediaContext,
): readonly InputItem[] {
  return message.content.flatMap((result): readonly InputItem[] => {
    const id = callIds.get(result.callId);
    if (id === undefined) {
      context.lose({ code: 'orphan_result', message: index, detail: `result of ${result.name} without its call` });
      return [];
    }
    const output = outputContent(result, index, context);
    const type = custom.has(result.callId) ? 'custom_tool_call_output' : 'function_call_output';
    return [{ type, call_id: id, output }];
  });
}

function instructionsOf(messages: readonly Message[], lose: (loss: WireLoss) => void): { instructions?: string } {
  const instructions = systemText(messages, lose);
  return instructions === '' ? {} : { instructions };
}

function toolsOf(request: MessageRequest, options: ResponsesOptions): Pick<ResponsesBody, 'tools' | 'tool_choice'> {
  const own = wireTools(request.tools, { refs: 'keep', strict: 'auto' }).map(
    ({ name, description, schema, strict }): OpenAI.Responses.FunctionTool => ({
      type: 'function',
      name,
      description,
      parameters: { ...schema },
      strict,
    }),
  );
  const tools = [...(options.builtinTools ?? []).map((tool) => tool as unknown as OpenAI.Responses.Tool), ...own];
  if (tools.length === 0) return {};
  const { toolChoice } = request;
  if (toolChoice === undefined || toolChoice === 'auto') return { tools };
  if (typeof toolChoice === 'string') return { tools, tool_choice: toolChoice };
  return { tools, tool_choice: { type: 'function', name: wireName(toolChoice.name) } };
}

function limitsOf(
  request: MessageRequest,
  traits: ModelTraits,
): Pick<ResponsesBody, 'max_output_tokens' | 'temperature'> {
  const { maxOutputTokens, temperature } = request;
  return {
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens) }),
    ...(temperature === undefined || traits.reasons === 'yes'
      ? {}
      : { temperature: Math.min(2, Math.max(0, temperature)) }),
  };
}

function reasoningOf(
  { thinking }: MessageRequest,
  traits: ModelTraits,
  lose: (loss: WireLoss) => void,
): { reasoning?: OpenAI.Reasoning } {
  if (thinking === undefined) return {};
  if (thinking === 'off') return traits.offEffort === undefined ? {} : { reasoning: { effort: traits.offEffort } };
  if (traits.reasons === 'no') {
    lose({ code: 'setting', detail: 'this model does not reason' });
    return {};
  }
  return { reasoning: { effort: thinking.effort ?? effortOf(thinking.budgetTokens), summary: 'auto' } };
}

/** Effort for a wish in tokens, by the budgets that the words usually mean. */
function effortOf(budgetTokens: number | undefined): 'low' | 'medium' | 'high' {
  if (budgetTokens === undefined) return 'medium';
  if (budgetTokens < 4096) return 'low';
  return budgetTokens < 16_384 ? 'medium' : 'high';
}
