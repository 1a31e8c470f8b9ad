import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { thinkingReplay } from '../../../src/providers/anthropic/thinking.ts';
import { createResponsesProvider } from '../../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { replayTolerant } from '../../../src/providers/without-replay.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';
import { toMessages } from '../../../src/transcript/to-messages.ts';
import { check as checkAnthropic } from '../../wire-laws/anthropic.ts';
import { check as checkResponses } from '../../wire-laws/openai-responses.ts';
import * as anthropic from '../anthropic/recorded.ts';
import { ResponseItems, user } from '../conversation.ts';
import * as responses from '../openai-responses/recorded.ts';
import { type Answer, sse, startWireServer, type WireServer } from '../wire-server.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const refused = (message: string, code: string): Answer => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  chunks: [JSON.stringify({ error: { type: 'invalid_request_error', message, code } })],
});

/** An open tool turn of that provider, with its reasoning and one of its own tools. */
function openTurn(provider: Provider, model: string, reasoning: JsonObject, builtin: JsonObject): MessageRequest {
  const response = new ResponseItems(
    { id: 'r', provider: provider.id, model, api: provider.api },
    provider.scope(model),
  );
  response
    .reasoning('thought', reasoning)
    .builtin('call', 'b_1', 'web_search', builtin)
    .text('Looking.', { itemId: 'msg_1' });
  response.calls({ id: 'call_1', name: 'get_time', args: {}, output: '10:00', data: { itemId: 'fc_1' } });
  const tools = [{ name: 'get_time', description: 'Tells.', inputSchema: { type: 'object', properties: {} } }];
  return {
    model,
    messages: toMessages([user('go'), ...response.items]),
    tools,
    thinking: { budgetTokens: 2000 },
    maxOutputTokens: 4000,
  };
}

async function collected(stream: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

test('Anthropic refuses a signature: the request goes out once more without thinking, and is valid', async () => {
  const provider = createAnthropicProvider({
    client: new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }),
  });
  const request = openTurn(provider, 'claude-opus-4-1', thinkingReplay('thought', 'c2ln'), {
    type: 'server_tool_use',
    id: 'b_1',
  });
  const good = { chunks: [sse([anthropic.start(), ...anthropic.text(0, 'ok'), ...anthropic.end('end_turn')])] };
  server.answer(refused('messages.1.content.0: Invalid `signature` in `thinking` block', 'x'), good);
  const told: string[] = [];
  const onReplayRejected = ({ code }: { code: string }): void => void told.push(code);
  const events = await collected(
    replayTolerant(provider, request, { signal: AbortSignal.timeout(20_000), onReplayRejected }),
  );
  expect(events.at(-1)?.type).toBe('finished');
  expect(told).toEqual(['replay_rejected']);
  const [first, second] = server.requests.slice(-2);
  expect(JSON.stringify(first)).toContain('"signature"');
  expect(JSON.stringify(second)).not.toMatch(/thinking|server_tool_use/);
  expect(JSON.stringify(second)).toContain('10:00');
  expect(checkAnthropic(second)).toEqual([]);
});

test('Responses refuses encrypted content: once more without it and without ids; a second refusal is passed on', async () => {
  const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
  const provider = createResponsesProvider({ client });
  const request = openTurn(
    provider,
    'gpt-5',
    { itemId: 'rs_1', encrypted: 'gAA', summary: [] },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
  );
  const no = refused('The encrypted content gAA could not be verified.', 'invalid_encrypted_content');
  server.answer(no, {
    chunks: [sse([responses.created, ...responses.message(0, 'msg_9', 'output_text', 'ok'), responses.completed()])],
  });
  const signal = AbortSignal.timeout(20_000);
  expect((await collected(replayTolerant(provider, request, { signal }))).at(-1)?.type).toBe('finished');
  const second = server.requests.at(-1);
  expect(checkResponses(second, { reasoningModel: true })).toEqual([]);
  expect(JSON.stringify(second)).not.toMatch(/gAA|fc_1|msg_1|ws_1/);
  server.answer(no);
  const before = server.requests.length;
  await expect(collected(replayTolerant(provider, request, { signal }))).rejects.toMatchObject({
    code: 'replay_rejected',
  });
  expect(server.requests.length - before).toBe(2);
});
