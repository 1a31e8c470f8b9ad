import { WIRE_ID_RULES, type WireIdRule } from '../../transcript/wire-ids.ts';
import type { ToolRules } from '../schema/wire-tools.ts';

/** Servers that speak Chat Completions, each in its own way. `deepseek-r1` is the first reasoner, which refuses its own reasoning. */
export type DialectName =
  | 'openai'
  | 'azure'
  | 'deepseek'
  | 'deepseek-r1'
  | 'qwen'
  | 'openrouter'
  | 'mistral'
  | 'gemini'
  | 'ollama'
  | 'vllm'
  | 'llama-cpp'
  | 'generic';

/**
 * What to do where the model wants its reasoning back and it is missing or foreign. `omit`: nothing. `placeholder`: a
 * stand-in. `disable_thinking`: no thinking in this request. `fold_turn_to_text`: calls and results of that turn as text.
 */
export type WhenMissing = 'omit' | 'placeholder' | 'disable_thinking' | 'fold_turn_to_text';

export interface Dialect {
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
  readonly systemRole: 'system' | 'developer';
  /** Models whose temperature is fixed; sending one is a 400. */
  readonly fixedTemperature?: RegExp;
  /** `stream_options.include_usage`: servers that know no such key either refuse it or report usage anyway. */
  readonly streamUsage: boolean;
  readonly reasoning: {
    /** Keys of a delta or message that hold thinking, first match wins. */
    readonly in: readonly string[];
    /** Where it goes back; `none` drops it. `details` is OpenRouter's `reasoning_details`, `chunk` Mistral's content part. */
    readonly out: 'none' | 'reasoning_content' | 'reasoning' | 'details' | 'chunk';
    readonly whenMissing: WhenMissing;
    /** Models that think unless told not to, and want each assistant message's reasoning back. */
    readonly wantedBy?: RegExp;
    /** Thinking in `<think>` tags at the start of the text. */
    readonly tags: boolean;
    /** Models that take the switch; absent: all. Others refuse it as an unknown parameter. */
    readonly switchedFor?: RegExp;
    /** How a request switches thinking on and off. */
    readonly switch:
      | 'none'
      | 'reasoning_effort'
      | 'thinking_type'
      | 'enable_thinking'
      | 'reasoning_object'
      | 'template';
  };
  /** Gemini: calls carry `extra_content` that must come back; models that want it get the documented stand-in where it is missing. */
  readonly signatures: { readonly sent: boolean; readonly wantedBy?: RegExp };
  readonly callIds: WireIdRule;
  /** `content` of an assistant message that has calls and no text. */
  readonly emptyContent: 'null' | 'empty' | 'omit';
  /** The chat template wants user and assistant in turn, the user first. */
  readonly alternate: boolean;
  /** A user message may not follow a tool message at once (Mistral). */
  readonly answerAfterTools: boolean;
  /** The conversation may not end with the assistant. */
  readonly userLast: boolean;
  /** `name` on tool messages. */
  readonly toolMessageName: boolean;
  readonly media: { readonly images: boolean; readonly audio: boolean; readonly files: boolean };
  readonly tools: ToolRules;
  /** History with calls needs tools declared, or proxies of Bedrock and Anthropic refuse it. */
  readonly toolsForHistory: boolean;
  /** `parallel_tool_calls: true` is needed for more than one call. */
  readonly askParallel: boolean;
  /** Calls written as text are recovered. */
  readonly textCalls: boolean;
  /** Structured output. `prompt`: only words can ask for it. */
  readonly structured: 'json_schema' | 'json_object' | 'prompt';
  /** Servers known never to send a finish reason: the end of the body is the end of the answer. */
  readonly endsWithoutFinish: boolean;
}

const PLAIN_TOOLS: ToolRules = { refs: 'keep', strict: 'off' };

/** What most servers take. */
const GENERIC: Dialect = {
  tokenLimit: 'max_tokens',
  systemRole: 'system',
  streamUsage: true,
  reasoning: {
    in: ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'],
    out: 'none',
    whenMissing: 'omit',
    tags: true,
    switch: 'none',
  },
  signatures: { sent: false },
  callIds: WIRE_ID_RULES['openai-chat'],
  emptyContent: 'null',
  alternate: false,
  answerAfterTools: false,
  userLast: false,
  toolMessageName: false,
  media: { images: true, audio: false, files: false },
  tools: PLAIN_TOOLS,
  toolsForHistory: true,
  askParallel: false,
  textCalls: true,
  structured: 'json_schema',
  endsWithoutFinish: false,
};

const OPENAI: Dialect = {
  ...GENERIC,
  tokenLimit: 'max_completion_tokens',
  fixedTemperature: /^(?:o\d|gpt-5(?!.*chat))/,
  reasoning: { ...GENERIC.reasoning, tags: false, switch: 'reasoning_effort', switchedFor: /^(?:o\d|gpt-5|codex)/ },
  media: { images: true, audio: true, files: true },
  tools: { refs: 'keep', strict: 'auto', maxTools: 128 },
  toolsForHistory: false,
  textCalls: false,
};

const DEEPSEEK: Dialect = {
  ...GENERIC,
  reasoning: {
    in: ['reasoning_content', 'reasoning'],
    out: 'reasoning_content',
    whenMissing: 'placeholder',
    wantedBy: /reasoner|deepseek-v(?:[4-9]|3\.[2-9])|thinking|speciale/i,
    tags: true,
    switch: 'thinking_type',
  },
  media: { images: false, audio: false, files: false },
  toolsForHistory: false,
  structured: 'json_object',
};

const LOCAL: Dialect = {
  ...GENERIC,
  reasoning: { ...GENERIC.reasoning, switch: 'template' },
  toolsForHistory: false,
};

/** One ruling a server. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  openai: OPENAI,
  azure: OPENAI,
  deepseek: DEEPSEEK,
  'deepseek-r1': {
    ...DEEPSEEK,
    reasoning: { in: DEEPSEEK.reasoning.in, out: 'none', whenMissing: 'omit', tags: true, switch: 'none' },
    alternate: true,
    userLast: true,
  },
  qwen: {
    ...GENERIC,
    reasoning: { ...GENERIC.reasoning, switch: 'enable_thinking' },
    toolsForHistory: false,
    askParallel: true,
    structured: 'json_object',
  },
  openrouter: {
    ...GENERIC,
    reasoning: {
      ...GENERIC.reasoning,
      in: ['reasoning', 'reasoning_content'],
      out: 'details',
      switch: 'reasoning_object',
    },
    media: { images: true, audio: true, files: true },
  },
  mistral: {
    ...GENERIC,
    streamUsage: false,
    reasoning: { ...GENERIC.reasoning, out: 'chunk', tags: false },
    callIds: WIRE_ID_RULES.mistral,
    emptyContent: 'empty',
    answerAfterTools: true,
    userLast: true,
    toolMessageName: true,
    toolsForHistory: false,
  },
  gemini: {
    ...GENERIC,
    reasoning: { ...GENERIC.reasoning, tags: false, switch: 'reasoning_effort' },
    signatures: { sent: true, wantedBy: /gemini-(?:[3-9]|\d{2})/i },
    toolMessageName: true,
    media: { images: true, audio: true, files: false },
    tools: { refs: 'inline', strict: 'off' },
    toolsForHistory: false,
    textCalls: false,
  },
  ollama: {
    ...LOCAL,
    reasoning: { ...LOCAL.reasoning, switch: 'reasoning_effort' },
    tools: { refs: 'inline', strict: 'off' },
  },
  vllm: { ...LOCAL, reasoning: { ...LOCAL.reasoning, out: 'reasoning_content' } },
  'llama-cpp': { ...LOCAL, reasoning: { ...LOCAL.reasoning, out: 'reasoning_content' } },
  generic: GENERIC,
};
