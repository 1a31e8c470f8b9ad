import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { createAnthropicProvider } from '../../src/providers/anthropic/adapter.ts';
import { openaiChat } from '../../src/providers/openai-chat/adapter.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { callModel } from '../providers/wire-server.ts';
import { anthropicCache, type InputBill } from './caching/anthropic-cache.ts';
import { openaiCache } from './caching/openai-cache.ts';
import { type PromptBlock, promptBlocks, tokensOf } from './caching/prompt-blocks.ts';
import type { ScriptedAnswer } from './caching/scripted.ts';
import { type CachingProvider, inputCost, startCachingProvider } from './caching-provider.ts';

const MINUTE = 60_000;
const MARK = { cache_control: { type: 'ephemeral' } };
const words = (n: number, word = 'apple '): string => word.repeat(n);

describe('the cache of the Messages API', () => {
  let now = 0;
  const cache = () => anthropicCache(() => now, 1024);
  const bill = (to: ReturnType<typeof cache>, body: Record<string, unknown>): InputBill => {
    const whole = { model: 'm', ...body };
    return to.bill(whole, promptBlocks('anthropic', whole));
  };
  const system = (marked = true) => [{ type: 'text', text: words(2000), ...(marked ? MARK : {}) }];
  const user = (text: string, marked = false) => ({
    role: 'user',
    content: [{ type: 'text', text, ...(marked ? MARK : {}) }],
  });

  test('writes where a mark stands, and reads it the next time', () => {
    const one = cache();
    const first = bill(one, { system: system(), messages: [user('hi')] });
    const second = bill(one, { system: system(), messages: [user('other')] });
    expect(first).toMatchObject({ read: 0, written1h: 0 });
    expect(first.written5m).toBeGreaterThan(2000);
    expect(second).toEqual({ ...second, read: first.written5m, written5m: 0 });
    expect(inputCost(second)).toBeCloseTo(0.1 * second.read + second.uncached);
  });

  test('without a mark nothing is written, and nothing is found although the prefix is the same', () => {
    const one = cache();
    bill(one, { system: system(false), messages: [user('hi')] });
    expect(bill(one, { system: system(), messages: [user('hi')] }).read).toBe(0);
  });

  test('a prefix below the minimum is not cached', () => {
    const one = cache();
    const short = { system: [{ type: 'text', text: words(500), ...MARK }], messages: [user('hi')] };
    expect([bill(one, short), bill(one, short)].map(({ read, written5m }) => [read, written5m])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('an entry is found twenty blocks back from a mark and no further', () => {
    const blocks = (n: number) => Array.from({ length: n }, (_, at) => ({ type: 'text', text: `block ${at}` }));
    const asked = (more: number) => ({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: words(2000), ...MARK },
            ...blocks(more - 1),
            { type: 'text', text: 'end', ...MARK },
          ],
        },
      ],
    });
    // The mark itself is the first of the twenty that are tried.
    const unmarkedStart = (more: number) => {
      const [message] = asked(more).messages;
      return {
        messages: [
          {
            role: 'user',
            content: message?.content.map((block, at) => (at === 0 ? { type: 'text', text: block.text } : block)),
          },
        ],
      };
    };
    for (const [more, found] of [
      [19, true],
      [20, false],
    ] as const) {
      const one = cache();
      bill(one, { messages: [{ role: 'user', content: [{ type: 'text', text: words(2000), ...MARK }] }] });
      expect([more, bill(one, unmarkedStart(more)).read > 0]).toEqual([more, found]);
    }
  });

  test.each([
    ['the tools', { tools: [{ name: 'other', input_schema: {} }] }, 'nothing'],
    ['the tool choice', { tool_choice: { type: 'none' } }, 'the system prompt'],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }, 'the system prompt'],
    ['nothing', {}, 'everything'],
  ])('another value of %s leaves %s cached', (_, change, kept) => {
    const one = cache();
    const base = {
      tools: [{ name: 'a', input_schema: {} }],
      system: system(),
      messages: [user(words(1500, 'pear '), true)],
    };
    const first = bill(one, base);
    const { read } = bill(one, { ...base, ...change });
    const all = first.written5m;
    const expected = { nothing: 0, everything: all, 'the system prompt': all - 1500 }[kept] ?? Number.NaN;
    expect(Math.abs(read - expected)).toBeLessThan(30);
  });

  test('an entry lives five minutes after its last use, a long one an hour', () => {
    const one = cache();
    const body = { system: system(), messages: [user('hi')] };
    const long = {
      system: [{ type: 'text', text: words(3000), cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [user('hi')],
    };
    bill(one, body);
    expect(bill(one, long).written1h).toBeGreaterThan(2900);
    now += 4 * MINUTE;
    expect(bill(one, body).read).toBeGreaterThan(0);
    now += 4 * MINUTE;
    expect(bill(one, body).read).toBeGreaterThan(0);
    now += 6 * MINUTE;
    expect(bill(one, body).read).toBe(0);
    expect(bill(one, long).read).toBeGreaterThan(0);
  });
});

describe('the cache of Chat Completions', () => {
  let now = 0;
  const body = { model: 'm' };
  const blocks = (text: string): PromptBlock[] => [{ level: 'messages', text, tokens: tokensOf(text) }];

  test('finds the longest common prefix in steps of 128 tokens from 1,024 on', () => {
    const one = openaiCache(() => now, 1024);
    expect(one.bill(body, blocks(words(1500))).read).toBe(0);
    expect(one.bill(body, blocks(words(1500))).read).toBe(1408);
    expect(one.bill(body, blocks(`${words(1200)}${words(400, 'pear ')}`)).read).toBe(1152);
    expect(one.bill(body, blocks(words(1000))).read).toBe(0);
    expect(one.bill(body, blocks(`pear ${words(1500)}`)).read).toBe(0);
    expect(one.bill({ model: 'other' }, blocks(words(1500))).read).toBe(0);
  });

  test('forgets after five minutes without use', () => {
    const one = openaiCache(() => now, 1024);
    one.bill(body, blocks(words(1500)));
    now += 4 * MINUTE;
    expect(one.bill(body, blocks(words(1500))).read).toBe(1408);
    now += 6 * MINUTE;
    expect(one.bill(body, blocks(words(1500))).read).toBe(0);
  });
});

describe.each(['openai-chat', 'anthropic'] as const)('the server by %s, asked by the real client', (api) => {
  let fake: CachingProvider;
  afterEach(() => fake.close());

  const tools = [
    { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } },
  ];
  const ask = async (answer: ScriptedAnswer, request: Partial<MessageRequest> = {}, window = 8000) => {
    fake = await startCachingProvider({ window: () => window, answer: () => answer });
    return again(request);
  };
  const again = (request: Partial<MessageRequest> = {}) =>
    callModel(
      providerOf(api, fake.url),
      {
        model: 'm',
        messages: [said('system', 'Be brief.'), said('user', 'What is there?')],
        tools,
        maxOutputTokens: 500,
        ...request,
      },
      { signal: AbortSignal.timeout(20_000), mint: 'call' },
    );

  test('streams reasoning, text and calls, and reports what it counted', async () => {
    const got = await ask({
      reasoning: 'Let me look.',
      text: 'Looking.',
      calls: [{ name: 'look', args: { at: 'src' } }],
    });
    expect(got.text).toBe('Looking.');
    expect(got.items.map(({ kind }) => kind)).toEqual(['reasoning_summary', 'assistant_message', 'tool_call_batch']);
    expect(got.items.at(-1)).toMatchObject({ calls: [{ name: 'look', arguments: { at: 'src' } }] });
    expect(got.stopReason.unified).toBe('tool_calls');
    const [seen] = fake.requests;
    expect(got.usage).toMatchObject({ inputTokens: seen?.asked.counted, outputTokens: seen?.outputTokens });
    expect(seen?.asked).toMatchObject({
      system: 'Be brief.',
      toolNames: ['look'],
      messages: [{ role: 'user', text: 'What is there?', calls: [] }],
      lastUser: 'What is there?',
      maxOutput: 500,
    });
  });

  test('the script sees calls and results apart from what the user says', async () => {
    const call = {
      type: 'tool_use',
      callId: 'c1',
      nativeId: 'c1',
      name: 'look',
      input: { at: 'src' },
      part: 0,
    } as const;
    const result = {
      type: 'tool_result',
      callId: 'c1',
      name: 'look',
      status: 'ok',
      content: [{ type: 'text', text: 'A file.' }],
    } as const;
    await ask(
      { text: 'ok' },
      {
        messages: [said('user', 'Look.'), { role: 'assistant', content: [call] }, { role: 'tool', content: [result] }],
      },
    );
    expect(fake.requests[0]?.asked.messages).toEqual([
      { role: 'user', text: 'Look.', calls: [] },
      { role: 'assistant', text: '', calls: [{ name: 'look', args: { at: 'src' } }] },
      { role: 'tool', text: 'A file.', calls: [] },
    ]);
    expect(fake.requests[0]?.asked.lastUser).toBe('Look.');
  });

  test('reads a long prefix from the cache the second time', async () => {
    const messages = [said('system', words(1500)), said('user', 'Hi.')];
    const first = await ask({ text: 'ok' }, { messages });
    const second = await again({ messages });
    expect(first.usage?.cacheReadTokens).toBe(0);
    expect(second.usage?.cacheReadTokens).toBeGreaterThan(1300);
    expect(second.usage?.inputTokens).toBe(first.usage?.inputTokens);
  });

  test('refuses what does not fit, with the numbers, in the words that the vendor has for it', async () => {
    const messages = [said('user', words(900))];
    await expect(ask({ text: 'ok' }, { messages }, 800)).rejects.toMatchObject({
      code: 'context_overflow',
      numbers: { limit: 800 },
    });
    await fake.close();
    const outputTooLarge = ask({ text: 'ok' }, { messages }, 1200);
    await expect(outputTooLarge).rejects.toMatchObject({ code: 'context_overflow', numbers: { limit: 1200 } });
    expect(fake.requests).toMatchObject([{ status: 400, overflowed: true }]);
  });

  test('cuts an answer at the output limit; reasoning eats it first', async () => {
    const got = await ask({ text: words(600) });
    expect(got.stopReason.unified).toBe('length');
    expect(got.usage?.outputTokens).toBe(500);
    await fake.close();
    const thought = await ask({ reasoning: words(600), text: 'never said' });
    expect([thought.text, thought.stopReason.unified]).toEqual(['', 'length']);
  });

  test('refuses what breaks a rule of the wire', async () => {
    fake = await startCachingProvider({ window: () => 8000, answer: () => ({ text: 'ok' }) });
    const path = api === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
    const response = await fetch(`${fake.url}${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [] }),
    });
    expect(response.status).toBe(400);
    expect(fake.requests[0]?.broken).not.toEqual([]);
  });
});

function said(role: 'system' | 'user', text: string) {
  return { role, content: [{ type: 'text' as const, text }] };
}

function providerOf(api: 'openai-chat' | 'anthropic', url: string): Provider {
  if (api === 'anthropic')
    return createAnthropicProvider({ client: new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 }) });
  const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
  return openaiChat({ id: 'fake', client, dialect: 'generic', endpoint: `${url}/v1`, account: 'test' });
}
