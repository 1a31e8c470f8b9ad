import { assertNever } from '../transcript/assert-never.ts';
import { calledTools } from '../transcript/called-tools.ts';
import { groupsOf } from '../transcript/groups.ts';
import type { AgentItem, ContentBlock, RefusalBlock, ToolCall, ToolResult, UserOrigin } from '../transcript/items.ts';
import { truncateOutput } from '../transcript/truncate.ts';
import { isObserved, type ViewPart } from '../transcript/view.ts';

export interface RenderOptions {
  /** Tokens that one tool output, or one text, may take. */
  readonly outputTokens: number;
  readonly textTokens: number;
}

/** Tokens of one argument of a call. */
const ARGUMENT_TOKENS = 300;

/** Items of one group as text, with what they take part in. */
export interface RenderedGroup {
  /** Positions in the list of parts, `[start, end)`. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const SPEAKERS: Readonly<Record<UserOrigin, string>> = {
  user: 'user',
  steer: 'user',
  control: 'program',
  observed: 'overheard',
};

/** Data that no reader wants as text. */
const BASE64 = /[A-Za-z0-9+/]{200,}={0,2}/g;

/**
 * A transcript as plain text for a reader that is to tell of it, group by group. Each item carries its position as
 * `[#12]`. Calls are told in words, in no form that a model could take for a way to call; data are named, not shown.
 */
export function renderGroups(parts: readonly ViewPart[], options: RenderOptions): readonly RenderedGroup[] {
  const items = parts.map(({ item }) => item);
  const names = calledTools(items);
  return groupsOf(items).flatMap(({ start, end }) => {
    const text = parts
      .slice(start, end)
      .flatMap((part) => renderItem(part, names, options))
      .join('\n');
    return text === '' ? [] : [{ start, end, text }];
  });
}

function renderItem(
  { seq, item }: ViewPart,
  names: ReadonlyMap<string, string>,
  options: RenderOptions,
): readonly string[] {
  if (isObserved(item)) return [];
  const at = seq === null ? '' : `[#${seq}] `;
  return lines(item, names, options).map((line) => `${at}${line}`);
}

function lines(item: AgentItem, names: ReadonlyMap<string, string>, options: RenderOptions): readonly string[] {
  switch (item.kind) {
    case 'user_message':
      return [`${SPEAKERS[item.origin]}: ${plain(item.content, options.textTokens)}`];
    case 'assistant_message':
      return [`assistant: ${plain(item.content, options.textTokens)}`];
    case 'tool_call_batch':
      return item.calls.map(callLine);
    case 'tool_result_batch':
      return item.results.map((result) => resultLine(result, names, options));
    case 'builtin_tool_event': {
      const did = item.phase === 'call' ? 'the provider ran' : 'the provider’s tool answered:';
      return [`${did} ${item.name}, ${cut(JSON.stringify(item.payload), options.outputTokens)}`];
    }
    // What the model thought is its own, and the earlier summary is told apart from the items.
    case 'reasoning_summary':
    case 'compaction_summary':
      return [];
    default:
      return assertNever(item, 'item kind');
  }
}

function callLine({ name, arguments: args, argumentsError, rawArguments }: ToolCall): string {
  if (argumentsError !== undefined)
    return `assistant asked for ${name} with arguments that could not be read: ${cut(rawArguments ?? '', ARGUMENT_TOKENS)}`;
  const told = Object.entries(args).map(([key, value]) => `${key} is ${cut(valueText(value), ARGUMENT_TOKENS)}`);
  return `assistant asked for the tool ${name}${told.length === 0 ? '' : ` where ${told.join('; ')}`}`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function resultLine(
  { callId, status, content }: ToolResult,
  names: ReadonlyMap<string, string>,
  { outputTokens }: RenderOptions,
): string {
  const tool = names.get(callId) ?? 'a tool';
  const how = status === 'ok' ? 'answered' : `ended as ${status.replaceAll('_', ' ')}`;
  return `${tool} ${how}: ${plain(content, outputTokens)}`;
}

/** Texts as they are up to a cap; media by their names. */
function plain(content: readonly (ContentBlock | RefusalBlock)[], maxTokens: number): string {
  return cut(content.map(blockText).join('\n'), maxTokens);
}

function blockText(block: ContentBlock | RefusalBlock): string {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text;
    case 'image':
    case 'audio':
    case 'file': {
      const { mediaType, byteLength, name } = block.media;
      return `(${block.type}${name === undefined ? '' : ` ${name}`}, ${mediaType}, ${byteLength} bytes)`;
    }
    case 'extension':
      return `(${block.name})`;
    default:
      return assertNever(block, 'block type');
  }
}

function cut(text: string, maxTokens: number): string {
  const bare = text.replace(BASE64, (data) => `(${data.length} characters of data)`);
  return truncateOutput(bare, { maxTokens, readBy: 'read_transcript' }).text;
}
