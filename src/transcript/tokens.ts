import { assertNever } from './assert-never.ts';
import type { AgentItem, ContentBlock, MediaRef, RefusalBlock } from './items.ts';
import type { Block, Message, ToolSpec } from './message.ts';
import { type TokenEstimator, textTokens } from './text-tokens.ts';

/** Tokens for media whose size is unknown: the flat price of a low-resolution image, and a guess for sound. */
const IMAGE_TOKENS = 85;
const AUDIO_TOKENS = 100;
const FILE_TOKENS = 50;

/** No provider takes more for one image: larger ones are scaled down before they are counted. */
const MAX_IMAGE_TOKENS = 3000;

/** Role, separators and ids that wrap a message, a call or a result on the wire. */
const MESSAGE_OVERHEAD = 4;
const CALL_OVERHEAD = 8;
/** What a summary is introduced with. */
const SUMMARY_OVERHEAD = 45;

/** Tokens of one block of a request or of an item. */
export function blockTokens(block: Block | ContentBlock | RefusalBlock, estimator: TokenEstimator = 'fitted'): number {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return textTokens(block.text, estimator);
    case 'image':
      return imageTokens(block.media);
    case 'audio':
      return AUDIO_TOKENS;
    case 'file':
      return FILE_TOKENS + textTokens(block.media.name ?? '', estimator);
    case 'tool_use':
      return CALL_OVERHEAD + textTokens(block.name, estimator) + jsonTokens(block.input, estimator);
    case 'tool_result':
      return CALL_OVERHEAD + blocksTokens(block.content, estimator);
    case 'builtin_tool':
      return CALL_OVERHEAD + textTokens(block.name, estimator) + jsonTokens(block.payload, estimator);
    case 'extension':
      return textTokens(block.name, estimator) + jsonTokens(block.data, estimator);
    default:
      return assertNever(block, 'block type');
  }
}

export function blocksTokens(
  blocks: readonly (Block | ContentBlock | RefusalBlock)[],
  estimator: TokenEstimator = 'fitted',
): number {
  let tokens = 0;
  for (const block of blocks) tokens += blockTokens(block, estimator);
  return tokens;
}

/** Content is immutable, and views built one after the other share it. */
const KNOWN: Readonly<Record<TokenEstimator, WeakMap<readonly unknown[], number>>> = {
  fitted: new WeakMap(),
  conservative: new WeakMap(),
};

/** {@link blocksTokens} of the content of an item, remembered by its identity. */
export function contentTokens(
  content: readonly (ContentBlock | RefusalBlock)[],
  estimator: TokenEstimator = 'fitted',
): number {
  const known = KNOWN[estimator].get(content);
  if (known !== undefined) return known;
  const tokens = blocksTokens(content, estimator);
  KNOWN[estimator].set(content, tokens);
  return tokens;
}

/** Tokens of a message of the request, its wrapping included. */
export function messageTokens(message: Message, estimator: TokenEstimator = 'fitted'): number {
  return MESSAGE_OVERHEAD + blocksTokens(message.content, estimator);
}

/** Tokens of the tools as the model is told of them. */
export function toolsTokens(tools: readonly ToolSpec[], estimator: TokenEstimator = 'fitted'): number {
  let tokens = 0;
  for (const tool of tools) {
    tokens += CALL_OVERHEAD + textTokens(`${tool.name} ${tool.description}`, estimator);
    tokens += jsonTokens(tool.inputSchema, estimator);
  }
  return tokens;
}

/** Tokens of an item of the transcript; the sum over a view is the view's estimate. */
export function itemTokens(item: AgentItem, estimator: TokenEstimator = 'fitted'): number {
  switch (item.kind) {
    case 'user_message':
    case 'assistant_message':
      return MESSAGE_OVERHEAD + contentTokens(item.content, estimator);
    case 'tool_call_batch':
      return MESSAGE_OVERHEAD + sum(item.calls, (call) => callTokens(call, estimator));
    case 'tool_result_batch':
      return MESSAGE_OVERHEAD + sum(item.results, (result) => CALL_OVERHEAD + contentTokens(result.content, estimator));
    case 'reasoning_summary':
      return Math.max(textTokens(item.text, estimator), replayTokens(item.replay?.data, estimator));
    case 'builtin_tool_event':
      return CALL_OVERHEAD + textTokens(item.name, estimator) + jsonTokens(item.payload, estimator);
    case 'compaction_summary':
      return MESSAGE_OVERHEAD + SUMMARY_OVERHEAD + textTokens(item.text, estimator);
    default:
      return assertNever(item, 'item kind');
  }
}

function callTokens(
  call: { readonly name: string; readonly arguments: unknown; readonly rawArguments?: string },
  estimator: TokenEstimator,
): number {
  const raw = call.rawArguments === undefined ? 0 : textTokens(call.rawArguments, estimator);
  return CALL_OVERHEAD + textTokens(call.name, estimator) + Math.max(raw, jsonTokens(call.arguments, estimator));
}

/** Encrypted or redacted reasoning is billed by what it hides, about a token for each six characters of its base64. */
function replayTokens(data: unknown, estimator: TokenEstimator): number {
  return data === undefined ? 0 : Math.ceil(jsonTokens(data, estimator) / 4);
}

function sum<T>(values: readonly T[], tokens: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += tokens(value);
  return total;
}

function jsonTokens(value: unknown, estimator: TokenEstimator): number {
  return textTokens(JSON.stringify(value) ?? '', estimator);
}

/**
 * By area, as the vendors publish it (about 750 pixels a token after scaling to 1,568 pixels on the long side:
 * https://docs.claude.com/en/docs/build-with-claude/vision#calculate-image-costs), else the flat price.
 */
function imageTokens({ width, height }: MediaRef): number {
  if (width === undefined || height === undefined || !(width > 0 && height > 0)) return IMAGE_TOKENS;
  const scale = Math.min(1, 1568 / Math.max(width, height));
  const tokens = Math.ceil((width * scale * height * scale) / 750);
  return Math.min(MAX_IMAGE_TOKENS, Math.max(IMAGE_TOKENS, tokens));
}
