import type { Message, ToolUseBlock } from './message.ts';

/** What a wire format takes as the id of a call. */
export interface WireIdRule {
  /** Matches legal ids, whole. */
  readonly legal: RegExp;
  /** Fixed start of ids that we make; may be empty. */
  readonly prefix: string;
  /** Length of ids that we make, prefix included. */
  readonly length: number;
}

/** The wire formats (and the one dialect) whose rule is known. */
export type WireIdTarget = 'openai-chat' | 'openai-responses' | 'anthropic' | 'mistral';

/**
 * As the servers state it in their 400s: Chat Completions "maximum length 40"; Responses "maximum length 64", "letters,
 * numbers, underscores, or dashes"; Mistral "must be a-z, A-Z, 0-9, with a length of 9". Anthropic gives the pattern in
 * its reference (`tool_use.id`); 64 is the shortest limit of the clouds that serve it.
 */
export const WIRE_ID_RULES: Readonly<Record<WireIdTarget, WireIdRule>> = {
  'openai-chat': { legal: /^[^\s\p{C}]{1,40}$/u, prefix: 'call_', length: 29 },
  'openai-responses': { legal: /^[a-zA-Z0-9_-]{1,64}$/, prefix: 'call_', length: 29 },
  anthropic: { legal: /^[a-zA-Z0-9_-]{1,64}$/, prefix: 'toolu_', length: 30 },
  mistral: { legal: /^[a-zA-Z0-9]{9}$/, prefix: '', length: 9 },
};

/**
 * The id under which a call goes out: the provider's own if it is legal there and still free, else a hash of `callId`.
 *
 * Deterministic; `used` holds the ids of earlier calls (only these, so that an id never depends on what comes later), and
 * the answer is never among them. The caller adds it.
 */
export function wireId(nativeId: string, callId: string, rule: WireIdRule, used: ReadonlySet<string>): string {
  if (rule.legal.test(nativeId) && !used.has(nativeId)) return nativeId;
  for (let salt = 0; ; salt += 1) {
    const id = rule.prefix + hashText(callId, salt, rule.length - rule.prefix.length);
    if (!used.has(id)) return id;
  }
}

/**
 * The ids of all calls of a request, by our call id. An id that was fixed when the call was appended comes first, then the
 * native one. Depends on earlier calls only: a longer conversation keeps the ids of a shorter one.
 */
export function wireIdsOf(messages: readonly Message[], rule: WireIdRule): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const used = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) {
      if (block.type !== 'tool_use' || ids.has(block.callId)) continue;
      const id = idOf(block, rule, used);
      ids.set(block.callId, id);
      used.add(id);
    }
  }
  return ids;
}

function idOf({ wireId: fixed, nativeId, callId }: ToolUseBlock, rule: WireIdRule, used: ReadonlySet<string>): string {
  const free = fixed !== undefined && rule.legal.test(fixed) && !used.has(fixed);
  return free ? fixed : wireId(nativeId, callId, rule, used);
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * `length` letters and digits from two 32-bit FNV-1a hashes of `text`, drawn out character by character. No cryptographic
 * strength: ids are checked against those in use.
 */
function hashText(text: string, salt: number, length: number): string {
  let low = fnv1a(FNV_OFFSET ^ salt, text);
  let high = fnv1a(~FNV_OFFSET ^ salt, text);
  let id = '';
  for (let position = 0; position < length; position += 1) {
    low = mixed(low + high + position);
    high = mixed(high ^ low);
    id += ALPHABET[(high >>> 0) % ALPHABET.length];
  }
  return id;
}

function fnv1a(start: number, text: string): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return hash;
}

/** The 32-bit finaliser of MurmurHash3: every bit of the input moves every bit of the output. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
