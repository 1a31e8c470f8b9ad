import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromOpenAIChat, toOpenAIChat } from '../../src/transcript/interchange/openai-chat.ts';
import type { Json, JsonObject } from '../../src/transcript/json.ts';
import { check } from '../wire-laws/openai-chat.ts';
import { plan } from '../wire-laws/plan.ts';
import { toChat } from '../wire-laws/render.ts';
import { mediaStore } from './media-store.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

/** A legal conversation in the form in which the format is usually written; image details are this generator's own. */
function legalMessages(made: Parameters<typeof toChat>[0]): Json[] {
  return JSON.parse(JSON.stringify(toChat(made).messages).replaceAll(',"detail":"auto"', ''));
}

describe('messages', () => {
  test('survive the way there and back unchanged', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const messages = legalMessages(made);
        expect(toOpenAIChat.messages(fromOpenAIChat.messages(messages, media), media)).toEqual(messages);
      }),
      { numRuns: RUNS },
    );
  });

  test('come out legal', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const messages = toOpenAIChat.messages(fromOpenAIChat.messages(legalMessages(made), media), media);
        expect(check({ model: 'm', messages })).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  test('keep arguments that cannot be read, as the text they were', () => {
    const messages = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"path": "a' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'invalid arguments' },
    ];
    const [assistant] = fromOpenAIChat.messages(messages);
    expect(assistant?.content[0]).toMatchObject({ type: 'tool_use', input: {}, rawInput: '{"path": "a' });
    expect(toOpenAIChat.messages(fromOpenAIChat.messages(messages))).toEqual(messages);
  });

  test('keep parts that no block of ours can hold', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ],
      },
    ];
    expect(toOpenAIChat.messages(fromOpenAIChat.messages(messages))).toEqual(messages);
  });

  test('of the old function form are read as calls', () => {
    const read = fromOpenAIChat.messages([
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'one' },
    ]);
    expect(read).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool_use', callId: 'f', name: 'f', input: { a: 1 } }] },
      { role: 'tool', content: [{ callId: 'f', name: 'f', content: [{ text: 'one' }] }] },
    ]);
  });

  test('pair repeated ids by occurrence', () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const result = (content: string) => ({ role: 'tool', tool_call_id: 'call_0', content });
    const read = fromOpenAIChat.messages([call, result('r1'), call, result('r2')]);
    const ids = read.flatMap((message) =>
      message.content.flatMap((block) => ('callId' in block ? [block.callId] : [])),
    );
    expect(ids).toEqual(['call_0', 'call_0', 'call_0~2', 'call_0~2']);
  });

  test('pair repeated ids within one batch in order', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const read = fromOpenAIChat.messages([
      { role: 'assistant', content: null, tool_calls: [call, call] },
      { role: 'tool', tool_call_id: 'c', content: 'first' },
      { role: 'tool', tool_call_id: 'c', content: 'second' },
    ]);
    expect(read[1]?.content).toMatchObject([
      { callId: 'c', content: [{ text: 'first' }] },
      { callId: 'c~2', content: [{ text: 'second' }] },
    ]);
  });

  test('tell what does not survive', () => {
    const losses: string[] = [];
    const lose = ({ index, detail }: { index: number | null; detail: string }) =>
      void losses.push(`${index}: ${detail}`);
    fromOpenAIChat.messages([{ role: 'user', content: 'x', name: 'Ann' }, { role: 'narrator', content: 'y' }, 17], {
      lose,
    });
    expect(losses).toEqual(['0: key name of a user message is not kept', '1: is no message', '2: is no message']);
    const lost: string[] = [];
    toOpenAIChat.messages(
      [{ role: 'tool', content: [{ type: 'tool_result', callId: 'c', name: 'f', status: 'denied', content: [] }] }],
      {
        lose: ({ detail }) => lost.push(detail),
      },
    );
    expect(lost).toEqual(['status denied of result c']);
  });
});

describe('requests', () => {
  test('survive the way there and back', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const body: JsonObject = JSON.parse(JSON.stringify(toChat(made)));
        const read = fromOpenAIChat.request(body, media);
        expect(read).toMatchObject({ model: 'gpt-test', maxOutputTokens: 2048, temperature: 1, toolChoice: 'auto' });
        const written = toOpenAIChat.request(read, media);
        expect(fromOpenAIChat.request(written, media)).toEqual(read);
        expect(check(written)).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  test('carry every setting that both sides know, and tell of the others', () => {
    const losses: string[] = [];
    const body = {
      model: 'm',
      messages: [],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      reasoning_effort: 'high',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'out', schema: { type: 'object', properties: {} } },
      },
      max_completion_tokens: 5,
    };
    const read = fromOpenAIChat.request({ ...body, seed: 7 }, { lose: ({ detail }) => losses.push(detail) });
    expect(read).toMatchObject({
      toolChoice: { name: 'f' },
      thinking: { effort: 'high' },
      outputSchema: { name: 'out' },
      maxOutputTokens: 5,
    });
    expect(toOpenAIChat.request(read)).toEqual(body);
    expect(losses).toEqual(['setting seed']);
  });
});

describe('responses', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          reasoning_content: 'hm',
          content: 'Hi',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  };

  test('survive the way there and back', () => {
    const read = fromOpenAIChat.response(completion);
    expect(read.text()).toBe('Hi');
    expect(read.stopReason).toEqual({ unified: 'tool_calls', raw: 'tool_calls' });
    expect(toOpenAIChat.response(read)).toEqual(completion);
  });

  test('without usage have unknown usage, and a refusal is one', () => {
    const refused = {
      id: '1',
      model: 'm',
      choices: [{ message: { role: 'assistant', content: null, refusal: 'no' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 0 },
    };
    const read = fromOpenAIChat.response(refused);
    expect(read.usage).toBeNull();
    expect(read.stopReason.unified).toBe('refusal');
    expect(read.text()).toBe('no');
  });

  test('that are no completion are an empty answer, not an exception', () => {
    expect(fromOpenAIChat.response({}).message.content).toEqual([]);
  });
});
