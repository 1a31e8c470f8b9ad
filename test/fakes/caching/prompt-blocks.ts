import { createHash } from 'node:crypto';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { isObject, type Obj } from '../../wire-laws/shape.ts';
import { type CachingApi, objects } from './asked.ts';

/** A piece of a prompt, in the order in which the model reads it: tools, system, messages. */
export interface PromptBlock {
  readonly level: 'tools' | 'system' | 'messages';
  /** As the model reads it, without cache marks: what the cache's key is made of. */
  readonly text: string;
  readonly tokens: readonly number[];
  /** Life of the cache entry that its `cache_control` asks for. */
  readonly mark?: '5m' | '1h';
}

/**
 * Flattens a request to the blocks that its provider reads, counts and caches. Messages, calls and results are wrapped as in
 * the one chat format that a vendor of both tokenizer and models has published
 * (https://github.com/openai/harmony/blob/main/docs/format.md).
 */
export function promptBlocks(api: CachingApi, body: Obj): PromptBlock[] {
  return api === 'anthropic' ? anthropicBlocks(body) : chatBlocks(body);
}

/** Stands in a rendered prompt for one special token (`<|start|>`, `<|message|>`, …). */
const SPECIAL = '\u0001';
const SPECIAL_ID = 200_006;

/** Tokens of a text by a real tokenizer (o200k_base). */
export function tokensOf(text: string): readonly number[] {
  const known = KNOWN.get(text);
  if (known !== undefined) return known;
  const pieces = text.split(SPECIAL).map((piece) => encode(piece, { disallowedSpecial: new Set() }));
  const tokens = pieces.flatMap((piece, at) => (at === 0 ? piece : [SPECIAL_ID, ...piece]));
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  KNOWN.set(text, tokens);
  return tokens;
}

/** A request repeats nearly all of the one before. */
const KNOWN = new Map<string, readonly number[]>();
const MOST_KNOWN = 5000;

function blockOf(level: PromptBlock['level'], text: string, source: Obj = {}): PromptBlock {
  const mark = isObject(source.cache_control) ? source.cache_control : undefined;
  return {
    level,
    text,
    tokens: tokensOf(text),
    ...(mark === undefined ? {} : { mark: mark.ttl === '1h' ? ('1h' as const) : ('5m' as const) }),
  };
}

function anthropicBlocks(body: Obj): PromptBlock[] {
  const system = typeof body.system === 'string' ? [{ text: body.system }] : objects(body.system);
  const blocks = [
    ...objects(body.tools).map((tool) => blockOf('tools', `tool ${JSON.stringify(unmarked(tool))}\n`, tool)),
    ...system.map((block) => blockOf('system', `system\n${String(block.text)}\n`, block)),
    ...objects(body.messages).flatMap(({ role, content }) => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
      return parts.map((part) => blockOf('messages', rendered(part, String(role)), part));
    }),
  ];
  const last = blocks.at(-1);
  // A mark on the request itself stands for one on its last block.
  if (last === undefined || !isObject(body.cache_control) || last.mark !== undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, mark: body.cache_control.ttl === '1h' ? '1h' : '5m' }];
}

/** The schema of a structured answer stands before the messages. */
function chatBlocks(body: Obj): PromptBlock[] {
  const format =
    body.response_format === undefined ? [] : [blockOf('tools', `format ${JSON.stringify(body.response_format)}\n`)];
  return [
    ...objects(body.tools).map((tool) => blockOf('tools', `tool ${JSON.stringify(tool.function ?? tool)}\n`)),
    ...format,
    ...objects(body.messages).map((message) => {
      const level = message.role === 'system' || message.role === 'developer' ? 'system' : 'messages';
      return blockOf(level, chatText(message));
    }),
  ];
}

function chatText({ role, content, tool_calls: calls, reasoning_content: reasoning }: Obj): string {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
  const texts = parts.map((part) => (role === 'tool' ? result(String(part.text)) : rendered(part, String(role))));
  const asked = objects(calls).map(({ function: fn }) =>
    isObject(fn) ? call(String(fn.name), String(fn.arguments)) : '',
  );
  return [...(typeof reasoning === 'string' ? [thought(reasoning)] : []), ...texts, ...asked].join('');
}

const message = (header: string, text: string): string => `${SPECIAL}${header}${SPECIAL}${text}${SPECIAL}`;
const call = (name: string, args: string): string =>
  message(`assistant${SPECIAL}commentary to=functions.${name} ${SPECIAL}json`, args);
const result = (text: string): string => message(`functions to=assistant${SPECIAL}commentary`, text);
const thought = (text: string): string => message(`assistant${SPECIAL}analysis`, text);

/** A content block as text; ids that only pair calls with results are no words of the prompt. */
function rendered(block: Obj, role: string): string {
  switch (block.type) {
    case 'text':
      return message(role, String(block.text));
    case 'thinking':
      return thought(String(block.thinking));
    case 'tool_use':
      return call(String(block.name), JSON.stringify(block.input));
    case 'tool_result':
      return result(
        typeof block.content === 'string' ? block.content : objects(block.content).map(inResult).join('\n'),
      );
    default: {
      // Media and what else there is: told apart by its bytes, at a flat price.
      const hash = createHash('sha1')
        .update(JSON.stringify(unmarked(block)))
        .digest('hex');
      return message(role, `${String(block.type)} ${hash}`);
    }
  }
}

/** A piece of a result: its words, or what stands for its picture. */
function inResult(block: Obj): string {
  return block.type === 'text' ? String(block.text) : rendered(block, 'tool');
}

function unmarked({ cache_control: _, ...rest }: Obj): Obj {
  return rest;
}
