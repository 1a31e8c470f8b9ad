import { assertNever } from './assert-never.ts';
import type {
  AgentItem,
  Api,
  AssistantMessage,
  BuiltinToolEvent,
  ContentBlock,
  Replay,
  ReplayScope,
  ResponseRef,
} from './items.ts';
import { isMedia, mediaNote } from './media-edits.ts';
import { inScope } from './replay-scope.ts';

/** What the next request goes to. */
export interface HandOverTarget {
  readonly scope: ReplayScope;
  readonly api: Api;
  /** Id of the provider in the registry. */
  readonly provider: string;
  /** Media that the model takes. */
  readonly accepts: { readonly image: boolean; readonly audio: boolean; readonly file: boolean };
  /** What becomes of reasoning that another model left: readable text, or nothing (default). */
  readonly foreignReasoning?: 'text' | 'omit';
}

/** What does not survive on the way to the target. The transcript itself loses nothing. */
export interface HandOverLoss {
  /** Position of the item in the list given. */
  readonly index: number;
  readonly what:
    | 'reasoning_to_text'
    | 'reasoning_omitted'
    | 'replay_left_out'
    | 'media_to_note'
    | 'builtin_tool_to_text';
  /** How many blocks, calls or results of the item it concerns. */
  readonly count: number;
}

export interface HandedOver {
  readonly items: readonly AgentItem[];
  readonly losses: readonly HandOverLoss[];
}

/**
 * The items of a view as another model may see them. Always made from the items as they are stored, so going back to
 * the first model gives its bytes again. Items that need nothing stay the same objects; call ids stay (adapters map
 * them to what their wire takes). Pure and linear.
 */
export function handOver(items: readonly AgentItem[], target: HandOverTarget): HandedOver {
  const losses: HandOverLoss[] = [];
  const output: AgentItem[] = [];
  for (const [index, item] of items.entries()) {
    const note = (what: HandOverLoss['what'], count: number): void => {
      if (count > 0) losses.push({ index, what, count });
    };
    const made = handedOver(item, target, note);
    if (made !== undefined) output.push(made);
  }
  return losses.length === 0 ? { items, losses } : { items: output, losses };
}

type Note = (what: HandOverLoss['what'], count: number) => void;

function handedOver(item: AgentItem, target: HandOverTarget, note: Note): AgentItem | undefined {
  switch (item.kind) {
    case 'user_message': {
      const content = shownMedia(item.content, target, note);
      return content === item.content ? item : { ...item, content };
    }
    case 'tool_result_batch': {
      const results = mapped(item.results, (result) => {
        const content = shownMedia(result.content, target, note);
        return content === result.content ? result : { ...result, content };
      });
      return results === item.results ? item : { ...item, results };
    }
    case 'assistant_message': {
      const content = ownReplays(item.content, target, note);
      return content === item.content ? item : { ...item, content };
    }
    case 'tool_call_batch': {
      const calls = ownReplays(item.calls, target, note);
      return calls === item.calls ? item : { ...item, calls };
    }
    case 'reasoning_summary':
      return isForeign(item, target) ? reasoningAbroad(item, target, note) : item;
    case 'builtin_tool_event':
      return isForeign(item, target) ? builtinAsText(item, note) : item;
    case 'compaction_summary':
      return item;
    default:
      return assertNever(item, 'item kind');
  }
}

/** Another model's: by the scope of its replay data where there is some, else by who answered in which wire format. */
function isForeign(
  item: { readonly response: ResponseRef; readonly replay?: Replay },
  target: HandOverTarget,
): boolean {
  if (item.replay !== undefined) return !inScope(item.replay, target.scope);
  return item.response.provider !== target.provider || item.response.api !== target.api;
}

function reasoningAbroad(
  item: Extract<AgentItem, { kind: 'reasoning_summary' }>,
  target: HandOverTarget,
  note: Note,
): AssistantMessage | undefined {
  if (target.foreignReasoning !== 'text' || item.text.trim() === '') {
    note('reasoning_omitted', 1);
    return undefined;
  }
  note('reasoning_to_text', 1);
  return asText(item, item.text);
}

function builtinAsText(item: BuiltinToolEvent, note: Note): AssistantMessage {
  note('builtin_tool_to_text', 1);
  const payload = JSON.stringify(item.payload);
  // Told as history, never in a form that looks like something to call.
  const told =
    item.phase === 'call'
      ? `asked the provider's own tool ${item.name} with`
      : `got from the provider's own tool ${item.name}`;
  return asText(item, `(Earlier I ${told}: ${payload})`);
}

function asText(item: { readonly response: ResponseRef; readonly part?: number }, text: string): AssistantMessage {
  const part = item.part === undefined ? {} : { part: item.part };
  return {
    kind: 'assistant_message',
    schemaVersion: 1,
    response: item.response,
    content: [{ type: 'text', text, ...part }],
  };
}

/** Parts without the replay data that may not go to the target. */
function ownReplays<Part extends { readonly replay?: Replay }>(
  parts: readonly Part[],
  target: HandOverTarget,
  note: Note,
): readonly Part[] {
  let count = 0;
  const made = mapped(parts, (part) => {
    if (part.replay === undefined || inScope(part.replay, target.scope)) return part;
    count += 1;
    const { replay: _, ...rest } = part;
    return rest as Part;
  });
  note('replay_left_out', count);
  return made;
}

function shownMedia(content: readonly ContentBlock[], target: HandOverTarget, note: Note): readonly ContentBlock[] {
  let count = 0;
  const made = mapped(content, (block): ContentBlock => {
    if (!isMedia(block) || target.accepts[block.type]) return block;
    count += 1;
    return { type: 'text', text: mediaNote(block.media) };
  });
  note('media_to_note', count);
  return made;
}

/** Like `map`, but the same array when nothing changed. */
function mapped<T>(values: readonly T[], change: (value: T) => T): readonly T[] {
  const made = values.map(change);
  return made.every((value, at) => value === values[at]) ? values : made;
}
