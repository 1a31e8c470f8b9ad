import type { Json, JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import { isTranscriptHeader } from './holdfast-jsonl.ts';

/** What a file may be. The `-jsonl` form has one message a line. */
export type FileFormat =
  | 'holdfast-jsonl'
  | 'openai-chat-messages'
  | 'openai-chat-request'
  | 'openai-chat-response'
  | 'openai-chat-jsonl'
  | 'anthropic-messages'
  | 'anthropic-request'
  | 'anthropic-jsonl'
  | 'unknown';

/** A file as far as it had to be read to tell what it is. */
export interface Detected {
  readonly format: FileFormat;
  /** The whole file, where it is one JSON value. */
  readonly json?: Json;
  /** Parsed lines with their numbers from 1, where it is a list of lines. `undefined`: not JSON. */
  readonly lines?: readonly { readonly line: number; readonly value: Json | undefined }[];
}

/** Tells a file's format by what stands in it. */
export function detect(text: string): Detected {
  const json = parsed(text);
  if (json !== undefined && !isTranscriptHeader(json)) return { format: formatOfJson(json), json };
  const lines = text
    .split('\n')
    .flatMap((content, at) => (content.trim() === '' ? [] : [{ line: at + 1, value: parsed(content) }]));
  if (isTranscriptHeader(lines[0]?.value)) return { format: 'holdfast-jsonl', lines };
  const values = lines.map(({ value }) => value);
  if (!values.some(isMessage)) return { format: 'unknown', lines };
  return { format: values.some(speaksAnthropic) ? 'anthropic-jsonl' : 'openai-chat-jsonl', lines };
}

function formatOfJson(json: Json): FileFormat {
  if (Array.isArray(json)) {
    const messages = json as readonly Json[];
    if (messages.length > 0 && !messages.some(isMessage)) return 'unknown';
    return messages.some(speaksAnthropic) ? 'anthropic-messages' : 'openai-chat-messages';
  }
  if (!isJsonObject(json)) return 'unknown';
  if (Array.isArray(json.choices)) return 'openai-chat-response';
  if (isMessage(json)) return speaksAnthropic(json) ? 'anthropic-jsonl' : 'openai-chat-jsonl';
  if (!Array.isArray(json.messages)) return 'unknown';
  const messages = json.messages as readonly Json[];
  return messages.some(speaksAnthropic) || isAnthropicRequest(json, messages)
    ? 'anthropic-request'
    : 'openai-chat-request';
}

function isMessage(value: Json | undefined): boolean {
  return isJsonObject(value) && typeof value.role === 'string';
}

const ANTHROPIC_BLOCKS = /^(tool_use|tool_result|thinking|redacted_thinking|document|server_tool_use|\w+_tool_result)$/;

/** Whether a message has a block that only the Messages API knows. */
function speaksAnthropic(message: Json | undefined): boolean {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return false;
  return (message.content as readonly Json[]).some(
    (block) => isJsonObject(block) && (ANTHROPIC_BLOCKS.test(String(block.type)) || isJsonObject(block.source)),
  );
}

/** A system field, or tools in that form; and no message that only Chat Completions has. */
function isAnthropicRequest(request: JsonObject, messages: readonly Json[]): boolean {
  const chatOnly = messages.some(
    (message) =>
      isJsonObject(message) &&
      (message.role === 'system' || message.role === 'tool' || message.tool_calls !== undefined),
  );
  const tools = Array.isArray(request.tools) ? (request.tools as readonly Json[]) : [];
  return (
    !chatOnly &&
    (request.system !== undefined ||
      request.anthropic_version !== undefined ||
      tools.some((tool) => isJsonObject(tool) && isJsonObject(tool.input_schema)))
  );
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
