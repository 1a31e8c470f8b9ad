import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { createOfflineProvider } from '../../../src/providers/offline/adapter.ts';
import { createProviderRegistry } from '../../../src/providers/registry.ts';
import { submitStream } from '../../../src/providers/submit-stream.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';
import { end, start, text } from '../anthropic/recorded.ts';
import { sse, startWireServer, type WireServer } from '../wire-server.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] as const;
const registry = () =>
  createProviderRegistry({
    providers: [
      createAnthropicProvider({ client: new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }) }),
      createOfflineProvider(),
    ],
    default: 'offline/extractive',
  });

async function collected(events: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test('one call gives the events of its provider, whose model name it gets', async () => {
  server.answer({ chunks: [sse([start(), ...text(0, 'Hel', 'lo'), ...end('end_turn')])] });
  const events = await collected(
    submitStream(registry(), { model: 'anthropic/claude-x', messages: MESSAGES, tools: [] }),
  );
  expect(events.map(({ type }) => type)).toEqual([
    'response_started',
    'usage',
    'text_delta',
    'text_delta',
    'part_done',
    'usage',
    'finished',
  ]);
  expect(server.requests.at(-1)).toMatchObject({ model: 'claude-x', stream: true });
});

test('without a model the default answers', async () => {
  const events = await collected(submitStream(registry(), { messages: MESSAGES, tools: [] }));
  expect(events[0]).toMatchObject({ type: 'response_started', model: 'extractive' });
  expect(events.at(-1)).toMatchObject({ type: 'finished' });
});

test('a model that nobody serves is refused before anything is sent', () => {
  expect(() => submitStream(registry(), { model: 'acme/x', messages: MESSAGES, tools: [] })).toThrow(
    expect.objectContaining({ code: 'unknown_provider' }),
  );
});
