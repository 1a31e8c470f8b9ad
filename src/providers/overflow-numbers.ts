import type { OverflowNumbers } from './errors.ts';

const N = '(\\d[\\d,_]*)';

/** Where the numbers stand in the sentences. Groups of one name add up within one pattern (text input + tool input). */
const NUMBERS: readonly { readonly pattern: RegExp; readonly names: readonly (keyof OverflowNumbers)[] }[] = [
  { pattern: re(`maximum (?:context|prompt|input) (?:length|size) (?:is|of) (?:only )?${N}`), names: ['limit'] },
  { pattern: re(`model maximum context length:? ${N}`), names: ['limit'] },
  { pattern: re(`maximum context length \\(${N}\\)`), names: ['limit'] },
  { pattern: re(`${N} maximum context length`), names: ['limit'] },
  { pattern: re(`(?:messages|prompt|input)s? resulted in ${N} tokens`), names: ['requested'] },
  { pattern: re(`you requested (?:about |a total of )?${N} tokens`), names: ['requested'] },
  {
    pattern: re(`\\(${N} in (?:the|your) (?:messages|prompt)[,;] (?:and )?${N} (?:in|for) the completion`),
    names: ['input', 'output'],
  },
  {
    pattern: re(`\\(${N} in the messages, ${N} in the functions,? and ${N} in the completion`),
    names: ['input', 'input', 'output'],
  },
  {
    pattern: re(`\\(${N} of text input, (?:${N} of tool input, )?(?:${N} of image input, )?${N} in the output`),
    names: ['input', 'input', 'input', 'output'],
  },
  { pattern: re(`${N} tokens from the input messages and ${N} tokens for the completion`), names: ['input', 'output'] },
  { pattern: re(`(?:request has|contains(?: at least)?) ${N} input tokens`), names: ['input'] },
  { pattern: re(`requested ${N} output tokens`), names: ['output'] },
  { pattern: re(`for a total of (?:at least )?${N} tokens`), names: ['requested'] },
  { pattern: re(`max(?:_completion)?_tokens'? is too large: ${N}`), names: ['output'] },
  { pattern: re(`${N} tokens > ${N} maximum`), names: ['requested', 'limit'] },
  { pattern: re(`context limit: ${N} \\+ ${N} > ${N}`), names: ['input', 'output', 'limit'] },
  { pattern: re(`token limit: ${N} \\(requested: ${N}\\)`), names: ['limit', 'requested'] },
  { pattern: re(`total message size ${N} exceeds limit ${N}`), names: ['requested', 'limit'] },
  { pattern: re(`range of input length should be \\[\\d+, ?${N}\\]`), names: ['limit'] },
  {
    pattern: re(`input length (?:of )?\\(?${N}\\)? (?:tokens )?exceeds [^\\d]*${N}`),
    names: ['requested', 'limit'],
  },
  { pattern: re(`prompt contains ${N} tokens`), names: ['requested'] },
  { pattern: re(`the request contains ${N} tokens`), names: ['requested'] },
  {
    pattern: re(`input \\(${N} tokens\\) is longer than the model's context length \\(${N}`),
    names: ['requested', 'limit'],
  },
  { pattern: re(`prompt token count of ${N} exceeds the limit of ${N}`), names: ['requested', 'limit'] },
  { pattern: re(`the first ${N} tokens`), names: ['requested'] },
  { pattern: re(`context length of only ${N} tokens`), names: ['limit'] },
  { pattern: re(`too long: ${N}(?: tokens exceeds max_seq_len ${N})?`), names: ['requested', 'limit'] },
  {
    pattern: re(`token count \\(${N}\\) exceeds the maximum number of tokens allowed \\(?${N}`),
    names: ['requested', 'limit'],
  },
  { pattern: re(`exceeds the maximum number of tokens allowed \\(?${N}`), names: ['limit'] },
  {
    pattern: re(`request \\(${N} tokens\\) exceeds the available context size \\(${N}`),
    names: ['requested', 'limit'],
  },
  { pattern: re(`input token count is ${N} but model only supports up to ${N}`), names: ['requested', 'limit'] },
  { pattern: re(`max input tokens: ${N}, request input token count: ${N}`), names: ['limit', 'requested'] },
  { pattern: re(`cannot exceed ${N} - received ${N}`), names: ['limit', 'requested'] },
  { pattern: re(`must (?:be <=|have less than) ${N}(?: tokens)?\\. given: ${N}`), names: ['limit', 'input'] },
  { pattern: re(`${N} \`max_new_tokens\``), names: ['output'] },
  { pattern: re(`max size: ${N} tokens`), names: ['limit'] },
  { pattern: re(`current length is ${N} while limit is ${N}`), names: ['requested', 'limit'] },
  { pattern: re(`maximum length ${N}, but got a string with length ${N}`), names: ['limit', 'requested'] },
  { pattern: re(`maximum: ${N} bytes > ${N} bytes`), names: ['requested', 'limit'] },
  { pattern: re(`limit:? ${N}, requested:? ${N}`), names: ['limit', 'requested'] },
  { pattern: re(`supports at most ${N} (?:completion|output) tokens`), names: ['limit'] },
  { pattern: re(`valid range of max_tokens is \\[\\d+, ?${N}\\]`), names: ['limit'] },
];

/** Where a lone limit stands in a sentence of no known shape. */
const LIMITS: readonly RegExp[] = [
  new RegExp(`(?:limit|maximum|max|window|length|context|n_ctx)\\b(?: [a-z]+){0,2}[ :=]+${N}`, 'gi'),
  new RegExp(`(?:limit|length|window)\\b.{0,40}?\\b(?:is|of) ${N}`, 'gi'),
  new RegExp(`(?:最大|上限|限制|máxim[oa]|maxim\\w*|massim[oa]|максим\\S*|최대)[^\\d]{0,16}${N}`, 'gi'),
];

/** Numbers in a sentence of no known shape. Only a pair counts: a lone number may be an error code. */
const BARE = /(?<![\d.])(\d[\d,_]{2,})(?![\d.]*%)/g;

function re(source: string): RegExp {
  return new RegExp(source, 'i');
}

/** The numbers that an overflow sentence names; the first pattern that gives a number its name wins. */
export function overflowNumbers(message: string): OverflowNumbers {
  const found: { -readonly [K in keyof OverflowNumbers]: number } = {};
  for (const { pattern, names } of NUMBERS) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const sums = new Map<keyof OverflowNumbers, number>();
    names.forEach((name, index) => {
      const text = match[index + 1];
      if (text !== undefined) sums.set(name, (sums.get(name) ?? 0) + numberOf(text));
    });
    for (const [name, value] of sums) found[name] ??= value;
  }
  if (found.requested === undefined && found.input === undefined) {
    const bare = numberPair(message);
    if (found.limit === undefined || found.limit === bare.limit) Object.assign(found, bare);
  }
  const lone = found.limit ?? loneLimit(message, [found.requested, found.input, found.output]);
  if (lone !== undefined) found.limit = lone;
  if (found.requested === undefined && found.input !== undefined) found.requested = found.input + (found.output ?? 0);
  return found;
}

function loneLimit(message: string, taken: readonly (number | undefined)[]): number | undefined {
  const numbers = LIMITS.flatMap((pattern) => [...message.matchAll(pattern)].map((match) => numberOf(match[1])));
  return numbers.find((value) => value >= 100 && !taken.includes(value));
}

function numberOf(digits: string | undefined): number {
  return Number((digits ?? '').replaceAll(/[,_]/g, ''));
}

/** The two numbers of a sentence, if it has exactly two: the larger one is what was asked for. */
export function numberPair(message: string): OverflowNumbers {
  const numbers = [...message.matchAll(BARE)].map(([, digits]) => numberOf(digits));
  const [a, b] = numbers;
  if (a === undefined || b === undefined || numbers.length > 2) return {};
  return { limit: Math.min(a, b), requested: Math.max(a, b) };
}
