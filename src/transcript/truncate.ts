import { shrinkJson } from './shrink-json.ts';
import { type TokenEstimator, textTokens } from './text-tokens.ts';
import { headOf, tailOf, utf8Length, wellFormed } from './well-formed.ts';

/** Tokens that one tool output may take in a request, whatever the window. */
const MAX_OUTPUT_TOKENS = 10_000;

/**
 * Caps for what tools return, in tokens, from the budget of a view. Calls of one batch end at different times and in
 * different processes, so each gets its equal share of the batch's cap.
 */
export function outputCaps(budget: number, calls = 1): { readonly perOutput: number; readonly perBatch: number } {
  const perBatch = Math.max(1, Math.floor(budget / 3));
  const share = Math.floor(perBatch / Math.max(1, calls));
  return { perOutput: Math.max(1, Math.min(MAX_OUTPUT_TOKENS, Math.floor(budget / 8), share)), perBatch };
}

export interface TruncateOptions {
  /** The result is never estimated higher than this. */
  readonly maxTokens: number;
  /** Named in the note, so that the model can ask for the rest. */
  readonly callId?: string;
  /** What the note says instead of `read_tool_output`, when the text is no tool output: "read_file on AGENTS.md". */
  readonly readBy?: string;
  /** Default `fitted`. */
  readonly estimator?: TokenEstimator;
}

export interface Truncated {
  /** Well-formed Unicode: lone surrogate halves are replaced. */
  readonly text: string;
  readonly cut: boolean;
  /** UTF-8 bytes of the whole output. */
  readonly bytes: number;
  /** Lines of the whole output; a last line without a line end counts. */
  readonly lines: number;
}

/**
 * Cuts the middle out of an output that is over its cap: head and tail on whole lines where there are lines. JSON
 * stays JSON and keeps its shell with `status` and `error`. The model is told the size and how to read the rest.
 */
export function truncateOutput(output: string, options: TruncateOptions): Truncated {
  const text = wellFormed(output);
  const size = { bytes: utf8Length(text), lines: lineCount(text) };
  if (fits(text, options)) return { text, cut: false, ...size };
  const json = shrinkJson(text, { fits: (candidate) => fits(candidate, options), note: jsonNote(size, options) });
  return { text: json ?? cutMiddle(text, size, options), cut: true, ...size };
}

/** Number of lines; a line end at the very end opens no further line. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function fits(text: string, { maxTokens, estimator }: TruncateOptions): boolean {
  // No script takes more than a few hundred characters a token: spares the scan of megabytes.
  if (text.length > maxTokens * 400 + 400) return false;
  return textTokens(text, estimator) <= maxTokens;
}

interface Size {
  readonly bytes: number;
  readonly lines: number;
}

function howToRead({ callId, readBy }: TruncateOptions): string {
  if (readBy !== undefined) return readBy;
  return `read_tool_output${callId === undefined ? '' : ` with callId ${JSON.stringify(callId)}`}`;
}

function jsonNote(size: Size, options: TruncateOptions): string {
  return `cut from ${size.bytes} bytes; read the rest by ${howToRead(options)}`;
}

function cutMiddle(text: string, size: Size, options: TruncateOptions): string {
  const overhead = textTokens(noteOf(text.length, text.length, text.length, size, options), options.estimator) + 4;
  for (let room = options.maxTokens - overhead; room >= 2; room = Math.floor(room * 0.93)) {
    const candidate = assembled(text, room, size, options);
    if (fits(candidate, options)) return candidate;
  }
  return smallest(size, options);
}

function assembled(text: string, room: number, size: Size, options: TruncateOptions): string {
  const head = takeHead(text, Math.ceil(room / 2), options.estimator);
  const rest = text.slice(head.length);
  const tail = takeTail(rest, room - Math.ceil(room / 2), options.estimator);
  const note = noteOf(head.length, text.length - tail.length, text.length, size, options);
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}${note}\n${tail}`;
}

/** `from` and `to` are character positions of the gap, as `read_tool_output` takes them. */
function noteOf(from: number, to: number, total: number, size: Size, options: TruncateOptions): string {
  const whole = `${size.bytes} bytes, ${size.lines} ${size.lines === 1 ? 'line' : 'lines'}, ${total} characters`;
  return `[… characters ${from} to ${to} are left out of ${whole}; read them by ${howToRead(options)} …]`;
}

/** For caps that have no room for head and tail. */
function smallest(size: Size, options: TruncateOptions): string {
  const candidates = [
    `[… ${size.bytes} bytes left out; read them by ${howToRead(options)} …]`,
    `[… ${size.bytes} bytes left out …]`,
    '[cut]',
  ];
  return candidates.find((candidate) => fits(candidate, options)) ?? '';
}

/** Whole lines from the start within `tokens`; a line too long for that is cut inside. */
function takeHead(text: string, tokens: number, estimator: TokenEstimator | undefined): string {
  let used = 0;
  let end = 0;
  while (end < text.length) {
    const newline = text.indexOf('\n', end);
    const lineEnd = newline === -1 ? text.length : newline + 1;
    const left = tokens - used;
    const cost =
      lineEnd - end > left * 400 + 400 ? Number.POSITIVE_INFINITY : textTokens(text.slice(end, lineEnd), estimator);
    if (cost > left)
      return (
        text.slice(0, end) + partOfLine(text.slice(end, lineEnd), cost > tokens ? left : 0, tokens, headOf, estimator)
      );
    used += cost;
    end = lineEnd;
  }
  return text;
}

/** Whole lines up to the end within `tokens`; a line too long for that is cut inside. */
function takeTail(text: string, tokens: number, estimator: TokenEstimator | undefined): string {
  let used = 0;
  let from = text.length;
  while (from > 0) {
    const lineFrom = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
    const left = tokens - used;
    const cost =
      from - lineFrom > left * 400 + 400 ? Number.POSITIVE_INFINITY : textTokens(text.slice(lineFrom, from), estimator);
    if (cost > left)
      return (
        partOfLine(text.slice(lineFrom, from), cost > tokens ? left : 0, tokens, tailOf, estimator) + text.slice(from)
      );
    used += cost;
    from = lineFrom;
  }
  return text;
}

/** A piece of a line that no room of `tokens` holds, when more than half of the room is left; else nothing of it. */
function partOfLine(
  line: string,
  left: number,
  tokens: number,
  piece: (text: string, length: number) => string,
  estimator: TokenEstimator | undefined,
): string {
  if (left * 2 < tokens) return '';
  const fitting = (length: number) => textTokens(piece(line, length), estimator) <= left;
  let low = 0;
  let high = Math.max(1, left * 2);
  // Up by doubling first: a piece is short, its line may be megabytes.
  while (high < line.length && fitting(high)) {
    low = high;
    high *= 2;
  }
  high = Math.min(high, line.length);
  // To the nearest few characters is near enough.
  while (high - low > 1 + low / 64) {
    const middle = Math.ceil((low + high) / 2);
    if (fitting(middle)) low = middle;
    else high = middle - 1;
  }
  return piece(line, fitting(high) ? high : low);
}
