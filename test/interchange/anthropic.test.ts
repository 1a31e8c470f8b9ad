import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeAnthropicMessages } from '../../src/transcript/interchange/anthropic-export.ts';
import { readAnthropicMessages } from '../../src/transcript/interchange/anthropic-import.ts';
import type { ImportContext } from '../../src/transcript/interchange/context.ts';
import { itemsFromMessages } from '../../src/transcript/interchange/items-from-messages.ts';
import type { Json, JsonObject } from '../../src/transcript/json.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { check } from '../wire-laws/anthropic.ts';
import { type Plan, plan } from '../wire-laws/plan.ts';
import { toAnthropic } from '../wire-laws/render.ts';
import { mediaStore } from './media-store.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

const legal = (made: Plan): Json[] => JSON.parse(JSON.stringify(toAnthropic(made).messages));
const read = (messages: readonly Json[], context: ImportContext = {}) =>
  readAnthropicMessages(messages, context).map(({ value }) => value);

/** The same conversation with every text in the short form, no flag where it says nothing. */
function shortForm(messages: readonly Json[]): Json[] {
  const short = (content: Json | undefined): Json => {
    if (!Array.isArray(content)) return content ?? null;
    const blocks = (content as JsonObject[]).map((block) => {
      if (block.type !== 'tool_result') return block;
      const { is_error: failed, ...rest } = block;
      return { ...rest, content: short(block.content), ...(failed === true ? { is_error: true } : {}) };
    });
    return blocks.length === 1 && blocks[0]?.type === 'text' ? (blocks[0].text ?? null) : blocks;
  };
  return (messages as JsonObject[]).map((message) => ({ ...message, content: short(message.content) }));
}

describe('message lists', () => {
  test('survive the way there and back, signatures and images included', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const messages = legal(made);
        expect(writeAnthropicMessages(read(messages, media), media).messages).toEqual(shortForm(messages));
      }),
      // The next test goes the same way and further.
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  test('survive being items in between, which are valid as they come', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const messages = legal(made);
        const { items } = itemsFromMessages(readAnthropicMessages(messages, media), 'anthropic');
        const values = items.map(({ value }) => value);
        expect(validate(values, { tail: 'closed' })).toEqual([]);
        expect(writeAnthropicMessages(toMessages(values), media).messages).toEqual(shortForm(messages));
      }),
      { numRuns: RUNS },
    );
  });

  test('come out legal', () => {
    fc.assert(
      fc.property(plan, (made) => {
        const media = mediaStore();
        const body = toAnthropic(made);
        const { messages } = writeAnthropicMessages(read(legal(made), media), media);
        expect(check({ ...body, messages })).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  test('keep what the server ran, redacted thinking, and blocks that no block of ours can hold', () => {
    const messages = [
      { role: 'user', content: 'tides?' },
      {
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'enc' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'text', text: 'Noon.' },
        ],
      },
      { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }] },
    ];
    const { items } = itemsFromMessages(readAnthropicMessages(messages, {}), 'anthropic');
    expect(items.map(({ value }) => value.kind)).toEqual([
      'user_message',
      'reasoning_summary',
      'builtin_tool_event',
      'builtin_tool_event',
      'assistant_message',
      'user_message',
    ]);
    expect(writeAnthropicMessages(toMessages(items.map(({ value }) => value)), {}).messages).toEqual(messages);
  });

  test('never let an imported signature go to a provider whose account nobody named', () => {
    const [message] = read([{ role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'sig' }] }]);
    expect(message?.content[0]).toMatchObject({ replay: { scope: { endpoint: 'import', account: '', model: '' } } });
  });

  test('tell what the format cannot hold', () => {
    const lost: string[] = [];
    const { messages } = writeAnthropicMessages(
      [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', text: 'unsigned' },
            { type: 'text', text: 'x' },
          ],
        },
      ],
      { lose: ({ index, detail }) => lost.push(`${index}: ${detail}`) },
    );
    expect(lost).toEqual(['1: thinking without a signature']);
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'x' },
    ]);
  });
});
