import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HandOverTarget, handOver } from '../../src/transcript/hand-over.ts';
import type { ImageBlock } from '../../src/transcript/items.ts';
import { mediaBytes, mediaEdits } from '../../src/transcript/media-edits.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { buildView } from '../../src/transcript/view.ts';
import {
  assistant,
  builtin,
  calls,
  legalTranscript,
  reasoning,
  results,
  SCOPE,
  user,
} from '../transcript/arbitraries.ts';
import { BUDGET, entriesOf } from './sessions.ts';

const numRuns = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const ALL = { image: true, audio: true, file: true };

/** Who wrote the generated transcripts. */
const HOME: HandOverTarget = { scope: SCOPE, api: 'anthropic', provider: 'test', accepts: ALL };
const ABROAD: HandOverTarget = {
  scope: { endpoint: 'https://other.test', account: 'x', model: 'o' },
  api: 'openai-responses',
  provider: 'other',
  accepts: { image: false, audio: false, file: false },
};

const image: ImageBlock = {
  type: 'image',
  media: { sha256: 'cd'.repeat(32), mediaType: 'image/png', byteLength: 900 },
};

describe('handOver', () => {
  test('going back restores the bytes of the first provider, whatever lay between', () => {
    fc.assert(
      fc.property(legalTranscript, (items) => {
        const home = JSON.stringify(toMessages(handOver(items, HOME).items));
        handOver(items, ABROAD);
        expect(JSON.stringify(toMessages(handOver(items, HOME).items))).toBe(home);
      }),
      { numRuns },
    );
  });

  test('what was written by the target itself goes back as the same list, without losses', () => {
    const own = { scope: SCOPE, data: { signature: 'c2ln' } };
    const items = [
      user('hi'),
      reasoning('r1', 'hm', own),
      builtin('r1', 'call', 'b1'),
      calls('r1', 'c1'),
      results('c1'),
    ];
    const back = handOver(items, HOME);
    expect(back.items).toBe(items);
    expect(back.losses).toEqual([]);
  });

  test('abroad the list is valid, no replay data is left, and each loss names an item', () => {
    fc.assert(
      fc.property(legalTranscript, fc.constantFrom('text' as const, 'omit' as const), (items, foreignReasoning) => {
        const { items: given, losses } = handOver(items, { ...ABROAD, foreignReasoning });
        expect(validate(normalize(given).items, { tail: 'closed', target: ABROAD.scope })).toEqual([]);
        expect(JSON.stringify(given)).not.toContain('"replay"');
        expect(given.some((item) => item.kind === 'reasoning_summary' || item.kind === 'builtin_tool_event')).toBe(
          false,
        );
        for (const { index, count } of losses) expect([index < items.length, count > 0]).toEqual([true, true]);
      }),
      { numRuns },
    );
  });

  test('users and assistants keep every word, calls and results their ids', () => {
    fc.assert(
      fc.property(legalTranscript, (items) => {
        const words = (list: typeof items) =>
          list.flatMap((item) => {
            if (item.kind === 'tool_call_batch') return item.calls.map((call) => call.callId);
            if (item.kind === 'tool_result_batch') return item.results.map((result) => result.callId);
            if (item.kind !== 'user_message' && item.kind !== 'assistant_message') return [];
            return item.content.flatMap((block) => (block.type === 'text' ? block.text : []));
          });
        const kept = new Set(words(handOver(items, ABROAD).items));
        for (const word of words(items)) expect(kept).toContain(word);
      }),
      { numRuns },
    );
  });

  test('reasoning becomes text or goes, builtin tools become text, media become notes: each is reported', () => {
    const items = [
      { ...user('look'), content: [image] },
      reasoning('r1', 'I look first.'),
      builtin('r1', 'call', 'b1'),
      assistant('r1', 'Nice.'),
    ];
    const asText = handOver(items, { ...ABROAD, foreignReasoning: 'text' });
    const texts = toMessages(asText.items).flatMap((message) => message.content);
    expect(texts).toEqual([
      { type: 'text', text: '[image/png, 900 bytes: not shown]' },
      { type: 'text', text: 'I look first.' },
      { type: 'text', text: `(Earlier I asked the provider's own tool web_search with: {"of":"b1"})` },
      { type: 'text', text: 'Nice.' },
    ]);
    expect(asText.losses.map(({ index, what }) => [index, what])).toEqual([
      [0, 'media_to_note'],
      [1, 'reasoning_to_text'],
      [2, 'builtin_tool_to_text'],
    ]);
    expect(handOver(items, ABROAD).losses[1]).toEqual({ index: 1, what: 'reasoning_omitted', count: 1 });
  });
});

describe('mediaEdits', () => {
  const shots = Array.from({ length: 42 }, (_, i): ImageBlock => {
    return { type: 'image', media: { ...image.media, byteLength: 810_000, name: `shot-${i}.png` } };
  });
  const three = Array.from({ length: 14 }, (_, i) => ({ ...user('see'), content: shots.slice(i * 3, i * 3 + 3) }));
  const entries = entriesOf(three);

  test('the oldest media become notes until the request is small enough, the newest stay', () => {
    const view = buildView({ entries, budget: BUDGET });
    const edits = mediaEdits(view, { maxBytes: 30_000_000 });
    const blocks = buildView({ entries, edits, budget: BUDGET }).items.flatMap((item) =>
      item.kind === 'user_message' ? item.content : [],
    );
    // 27 images of 1.08 MB as base64 stay below 30 MB, 28 do not.
    expect(blocks.map((block) => block.type)).toEqual([...Array(15).fill('text'), ...Array(27).fill('image')]);
    expect(mediaBytes(blocks)).toBeLessThanOrEqual(30_000_000);
    expect(blocks[0]).toEqual({ type: 'text', text: '[shot-0.png, image/png, 810000 bytes: not shown]' });
    const odd = mediaEdits(view, { maxBytes: 28_000_000 });
    expect(odd.at(-1)?.action).toMatchObject({ content: [{ type: 'text' }, { type: 'text' }, { type: 'image' }] });
  });

  test('nothing is done when all of it fits', () => {
    expect(mediaEdits(buildView({ entries, budget: BUDGET }), { maxBytes: 60_000_000 })).toEqual([]);
  });
});
