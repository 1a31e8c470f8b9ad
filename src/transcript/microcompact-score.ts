import { isJsonObject, type Json } from './json.ts';

/** What a tool's results are worth later, as its definition says: when a view must shrink facts are kept longer than confirmations. */
export type ResultSemantic = 'factual' | 'action' | 'mixed';

const BASE_SCORE: Readonly<Record<ResultSemantic, number>> = { factual: 1, action: -1, mixed: 0 };

/** Steps without a reference after which a result loses half a point. */
const DECAY_STEPS = 5;
const DECAY = 0.5;

/** A later text refers to a result when it shares this many of its keywords, or this part of them. */
const MIN_SHARED = 3;
const MIN_SHARE = 0.2;

export interface Scored {
  readonly semantic: ResultSemantic;
  readonly text: string;
  /** Model calls since the result was last referred to, or since it came. */
  readonly stepsSinceReferenced: number;
}

/** How much is lost when a result is shortened: the higher, the more. */
export function resultScore({ semantic, text, stepsSinceReferenced }: Scored): number {
  const decay = Math.floor(Math.max(0, stepsSinceReferenced) / DECAY_STEPS) * DECAY;
  return BASE_SCORE[semantic] + contentScore(text) - decay;
}

/** List data is worth a point more, a bare confirmation a point less. */
function contentScore(text: string): number {
  const json = parsed(text);
  if (json !== undefined) return isListData(json) ? 1 : isConfirmation(json) ? -1 : 0;
  return CONFIRMATION.test(text) ? -1 : 0;
}

const CONFIRMATION =
  /^\s*(?:ok(?:ay)?|done|success(?:ful(?:ly)?)?|true|sent|saved|created|updated|deleted|written|完成|成功|已完成|已保存|已发送|已创建|已更新|已删除)[\s.!。！]*$/iu;

const CONFIRMING_KEYS: ReadonlySet<string> = new Set(['ok', 'status', 'success', 'message', 'result', 'id', 'code']);

function isListData(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 1;
  return isJsonObject(value) && Object.values(value).some((member) => Array.isArray(member) && member.length > 1);
}

function isConfirmation(value: Json): boolean {
  if (value === true) return true;
  if (!isJsonObject(value)) return false;
  const members = Object.entries(value);
  if (members.length === 0 || members.length > 4) return false;
  const bare = members.every(
    ([key, member]) => CONFIRMING_KEYS.has(key) && (typeof member !== 'object' || member === null),
  );
  return bare && members.some(([key]) => key === 'ok' || key === 'status' || key === 'success');
}

/** Whether a result that was not marked as one is an error all the same: JSON whose `error` says something. */
export function looksLikeError(text: string): boolean {
  const json = parsed(text);
  if (!isJsonObject(json)) return false;
  const { error, isError, is_error } = json;
  return (
    isError === true || is_error === true || (error !== undefined && error !== null && error !== false && error !== '')
  );
}

function parsed(text: string): Json | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[' && first !== 't') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Words of three letters or more, numbers, path and id pieces, and pairs of CJK characters; lower-cased, no stop words. */
export function keywords(text: string, limit = 400): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [run] of text.matchAll(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|[\p{L}\p{N}_]{3,}/gu,
  )) {
    if (words.size >= limit) break;
    if (CJK.test(run)) for (let at = 0; at + 2 <= run.length; at += 1) words.add(run.slice(at, at + 2));
    else if (!STOP_WORDS.has(run.toLowerCase())) words.add(run.toLowerCase());
  }
  return words;
}

const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'the and for with that this from are was were will has have had not but you your can all any its into out our they their there ' +
    'then than when what which who how why here now let see use used using get got one two also more most some such only very ' +
    'true false null'
  ).split(' '),
);

/** Whether a later text refers to a result, by what words they share. */
export function refersTo(result: ReadonlySet<string>, text: ReadonlySet<string>): boolean {
  if (result.size === 0) return false;
  let shared = 0;
  for (const word of result.size < text.size ? result : text) {
    if ((result.size < text.size ? text : result).has(word)) shared += 1;
  }
  return shared >= MIN_SHARED || (shared > 0 && shared >= result.size * MIN_SHARE);
}
