import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { createAnthropicProvider } from '../../src/providers/anthropic/adapter.ts';
import { accountOf, endpointOf } from '../../src/providers/endpoint.ts';
import { openaiChat } from '../../src/providers/openai-chat/adapter.ts';
import { createResponsesProvider } from '../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { callModel, type Received } from '../providers/wire-server.ts';

/** Where `bin/test-llama.mjs` started llama.cpp's server; these tests are skipped without it. */
export const LLAMA_URL: string | undefined = process.env.HOLDFAST_LLAMA_URL;
const BASE_URL = LLAMA_URL ?? 'http://127.0.0.1:9';

/** The server has one model and takes any name for it. */
export const MODEL = 'small';
/** Tokens; what `bin/test-llama.mjs` starts the server with. */
export const WINDOW = 2048;

const openai = new OpenAI({ apiKey: 'unused', baseURL: `${BASE_URL}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'unused', baseURL: BASE_URL, maxRetries: 0 });
const account = accountOf('unused');

/** The same server by each of its wire formats, with the vendors' own clients. */
export const WIRES: readonly Provider[] = [
  openaiChat({ id: 'chat', client: openai, dialect: 'llama-cpp', endpoint: endpointOf(`${BASE_URL}/v1`), account }),
  createResponsesProvider({ id: 'responses', client: openai, reasoning: 'text' }),
  createAnthropicProvider({ id: 'messages', client: anthropic, unsignedThinking: 'replay' }),
];

/** A question as a request, always answered the same way: temperature 0. */
export function question(text: string, more: Partial<MessageRequest> = {}): MessageRequest {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
  return { model: MODEL, messages, tools: [], maxOutputTokens: 32, temperature: 0, ...more };
}

/** A whole answer. Small machines read a prompt slowly. */
export function answerOf(provider: Provider, request: MessageRequest): Promise<Received> {
  return callModel(provider, request, { signal: AbortSignal.timeout(240_000), mint: `${provider.id}-call` });
}

/** What the server's only slot does or did last. */
export interface Slot {
  readonly processing: boolean;
  /** The prompt as the chat template made it. */
  readonly prompt: string;
  /** Tokens written so far. */
  readonly decoded: number;
}

export async function slot(): Promise<Slot> {
  const slots = (await asked('/slots')) as readonly {
    readonly is_processing: boolean;
    readonly prompt?: string;
    readonly next_token?: readonly { readonly n_decoded: number }[];
  }[];
  const [only] = slots;
  return {
    processing: only?.is_processing === true,
    prompt: only?.prompt ?? '',
    decoded: only?.next_token?.[0]?.n_decoded ?? 0,
  };
}

/** How many tokens the server's own tokenizer makes of a prompt. */
export async function tokensOf(prompt: string): Promise<number> {
  const { tokens } = (await asked('/tokenize', { content: prompt, add_special: false, parse_special: true })) as {
    readonly tokens: readonly number[];
  };
  return tokens.length;
}

async function asked(path: string, body?: unknown): Promise<unknown> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${BASE_URL}${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
