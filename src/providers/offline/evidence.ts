import type { JsonObject } from '../../transcript/json.ts';
import type { Message, ToolResultBlock, ToolUseBlock } from '../../transcript/message.ts';

/** One line of a file that a search found or a read showed. */
export interface SeenLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** What the tools have told since the latest question. */
export interface Evidence {
  readonly question: string;
  /** Batches of calls answered since the question. */
  readonly rounds: number;
  /** Lines found by `search_text`, in the order reported, each once. */
  readonly found: readonly SeenLine[];
  /** Lines shown by `read_file`, by path, in line order. */
  readonly read: ReadonlyMap<string, readonly SeenLine[]>;
  /** Paths that `find_files` gave. */
  readonly paths: readonly string[];
  /** Entries of the top folder as `list_dir` gave them. */
  readonly listing: readonly string[];
  /** First lines of results that are errors. */
  readonly failures: readonly string[];
}

/** Reads the transcript from its latest user message on: a deterministic function of the messages alone. */
export function evidenceOf(messages: readonly Message[]): Evidence {
  const start = messages.findLastIndex((message) => message.role === 'user');
  const turn = messages.slice(start + 1);
  const results = new Map(
    turn.flatMap((message) =>
      message.role === 'tool' ? message.content.map((result) => [result.callId, result]) : [],
    ),
  );
  const calls = turn.flatMap((message) => (message.role === 'assistant' ? message.content.filter(isToolUse) : []));
  const answered = calls.flatMap((call) => {
    const result = results.get(call.callId);
    return result === undefined ? [] : [{ call, result, text: textOf(result) }];
  });
  const good = answered.filter(({ result }) => result.status === 'ok');
  const of = (tool: string) => good.filter(({ call }) => call.name === tool);
  const question = textOfMessage(messages[start]);
  return {
    question,
    rounds: turn.filter((message) => message.role === 'tool').length,
    found: uniqueLines(of('search_text').flatMap(({ text }) => hitsIn(text))).filter(
      (line) => !repeats(line, question),
    ),
    read: linesByPath(of('read_file').flatMap(({ call, text }) => linesIn(text, stringOf(call.input, 'path')))),
    paths: [...new Set(of('find_files').flatMap(({ text }) => entriesIn(text)))],
    listing: of('list_dir').flatMap(({ text }) => entriesIn(text)),
    failures: answered.flatMap(({ call, result, text }) =>
      result.status === 'ok' ? [] : [`${call.name}: ${text.split('\n', 1)[0] ?? result.status}`],
    ),
  };
}

/** A line that quotes the question itself (documentation does) matches all of it and answers nothing. */
export function repeats({ text }: SeenLine, question: string): boolean {
  const asked = question.trim().toLowerCase();
  return asked.length >= 12 && text.toLowerCase().includes(asked);
}

function isToolUse(block: { readonly type: string }): block is ToolUseBlock {
  return block.type === 'tool_use';
}

function textOf(result: ToolResultBlock): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function textOfMessage(message: Message | undefined): string {
  if (message === undefined) return '';
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function stringOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}

/** Lines of the form `path:line: text`; anything else (notes, totals) is not a hit. */
function hitsIn(text: string): readonly SeenLine[] {
  return text.split('\n').flatMap((row) => {
    const match = /^(.+?):(\d+):\s?(.*)$/.exec(row);
    return match === null ? [] : [{ path: match[1] ?? '', line: Number(match[2]), text: match[3] ?? '' }];
  });
}

/** Lines of the form `12<tab>text`. */
function linesIn(text: string, path: string): readonly SeenLine[] {
  return text.split('\n').flatMap((row) => {
    const match = /^\s*(\d+)\t(.*)$/.exec(row);
    return match === null ? [] : [{ path, line: Number(match[1]), text: match[2] ?? '' }];
  });
}

/** One entry a line; marks such as a trailing slash or a size after a tab are no part of the name. */
function entriesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((row) => (row.split('\t')[0] ?? '').trim())
    .filter((row) => row !== '' && !row.startsWith('(') && !row.startsWith('['));
}

function uniqueLines(lines: readonly SeenLine[]): readonly SeenLine[] {
  return [...new Map(lines.map((line) => [`${line.path}:${line.line}`, line])).values()];
}

function linesByPath(lines: readonly SeenLine[]): ReadonlyMap<string, readonly SeenLine[]> {
  const byPath = groupedByPath(uniqueLines(lines));
  return new Map([...byPath].map(([path, rows]) => [path, [...rows].sort((a, b) => a.line - b.line)]));
}

/** Lines by their file, order kept. */
export function groupedByPath(lines: readonly SeenLine[]): ReadonlyMap<string, readonly SeenLine[]> {
  const byPath = new Map<string, SeenLine[]>();
  for (const line of lines) {
    const rows = byPath.get(line.path);
    if (rows === undefined) byPath.set(line.path, [line]);
    else rows.push(line);
  }
  return byPath;
}
