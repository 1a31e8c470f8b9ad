import type { AgentItem } from '../items.ts';
import { isJsonObject, type Json } from '../json.ts';
import type { Message } from '../message.ts';
import { normalize } from '../normalize.ts';
import type { Repair } from '../repair.ts';
import { readAnthropicMessages, readAnthropicSystem } from './anthropic-import.ts';
import type { ImportContext, Loss, Sourced } from './context.ts';
import { type Detected, detect, type FileFormat } from './detect.ts';
import { readTranscript } from './holdfast-jsonl.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { elementLines } from './locate.ts';
import { readChatMessages } from './openai-chat-import.ts';

/** Where something stands in a file: which message or entry, from 0, and on which line, from 1, where that is known. */
export interface FilePosition {
  readonly index: number;
  readonly line?: number;
}

/** Something that could not be read at all. */
interface FileProblem extends FilePosition {
  readonly message: string;
}

/** A file's conversation as it stands, before anything was mended. */
export interface ReadFile {
  readonly format: FileFormat;
  readonly items: readonly AgentItem[];
  /** Where each item came from. */
  readonly positions: readonly FilePosition[];
  /** The `seq` of each item, where the file has them. */
  readonly seqs?: readonly number[];
  readonly system: readonly string[];
  readonly problems: readonly FileProblem[];
  readonly losses: readonly Loss[];
}

/** An importable conversation and the report of what was done to it. */
export interface ImportedFile extends ReadFile {
  readonly repairs: readonly Repair[];
}

/** Reads a file of any known format into valid items. `format`: when the caller knows better than `detect`. */
export function importFile(text: string, context: ImportContext = {}): ImportedFile {
  const read = readFile(text, context);
  const { items, repairs } = normalize(read.items);
  return { ...read, items, repairs };
}

/** Reads a file into the items that it holds, whatever is wrong with them. */
export function readFile(text: string, context: ImportContext = {}): ReadFile {
  const losses: Loss[] = [];
  const collecting: ImportContext = {
    ...context,
    lose: (loss) => {
      losses.push(loss);
      context.lose?.(loss);
    },
  };
  const found = detect(text);
  if (found.format === 'holdfast-jsonl') return { ...readOwn(text), losses };
  if (found.format === 'unknown')
    return { ...NOTHING, problems: [{ index: 0, message: 'is no transcript in a known format' }], losses };
  const { messages, lines, problems } = messagesOf(found, text);
  const anthropic = found.format.startsWith('anthropic');
  const ir = anthropic ? readAnthropicMessages(messages, collecting) : readChatMessages(messages, collecting);
  const imported = itemsFromMessages([...systemOf(found), ...ir], anthropic ? 'anthropic' : 'openai-chat');
  const position = (index: number): FilePosition => ({
    index,
    ...(lines[index] === undefined ? {} : { line: lines[index] }),
  });
  return {
    format: found.format,
    items: imported.items.map(({ value }) => value),
    positions: imported.items.map(({ index }) => position(index)),
    system: imported.system,
    problems,
    losses,
  };
}

const NOTHING = { format: 'unknown' as const, items: [], positions: [], system: [] };

function readOwn(text: string): Omit<ReadFile, 'losses'> {
  const { header, entries, lines, problems } = readTranscript(text);
  return {
    format: 'holdfast-jsonl',
    items: entries.map(({ item }) => item),
    positions: lines.map((line, index) => ({ index, line })),
    seqs: entries.map(({ seq }) => seq),
    system: header?.system === undefined ? [] : [header.system],
    problems: problems.map(({ line, message }) => ({ index: line - 1, line, message })),
  };
}

interface FoundMessages {
  readonly messages: readonly Json[];
  /** Line of each message, where known. */
  readonly lines: readonly number[];
  readonly problems: readonly FileProblem[];
}

function messagesOf({ format, json, lines = [] }: Detected, text: string): FoundMessages {
  if (format.endsWith('-jsonl')) {
    if (json !== undefined) return { messages: [json], lines: [1], problems: [] };
    const readable = lines.filter(({ value }) => value !== undefined);
    const problems = lines.flatMap(({ line, value }, index) =>
      value === undefined ? [{ index, line, message: 'is no JSON' }] : [],
    );
    return {
      messages: readable.flatMap(({ value }) => (value === undefined ? [] : [value])),
      lines: readable.map(({ line }) => line),
      problems,
    };
  }
  if (format === 'openai-chat-response') {
    const choices = isJsonObject(json) && Array.isArray(json.choices) ? (json.choices as readonly Json[]) : [];
    const messages = choices
      .slice(0, 1)
      .flatMap((choice) => (isJsonObject(choice) && choice.message !== undefined ? [choice.message] : []));
    return { messages, lines: elementLines(text, 'choices'), problems: [] };
  }
  const inObject = isJsonObject(json) ? 'messages' : undefined;
  const list = isJsonObject(json) ? json.messages : json;
  return {
    messages: Array.isArray(list) ? (list as readonly Json[]) : [],
    lines: elementLines(text, inObject),
    problems: [],
  };
}

/** The system field of a request that has one. */
function systemOf({ format, json }: Detected): Sourced<Message>[] {
  if (format !== 'anthropic-request' || !isJsonObject(json)) return [];
  return readAnthropicSystem(json.system).map((value) => ({ value, index: 0 }));
}
