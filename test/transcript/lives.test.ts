import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupsOf } from '../../src/transcript/groups.ts';
import type { AgentItem, ToolCallBatch } from '../../src/transcript/items.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { settle } from '../../src/transcript/settle.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { anyItem, legalTranscript, RUNS, result, summary, user } from './arbitraries.ts';
import { pairingFaults } from './strict-pairing.ts';

/** What may happen to a session between two requests. */
type Event =
  /** Everything before a group goes, a summary takes its place. */
  | { readonly what: 'compact'; readonly at: number }
  /** The worker vanishes after item `at`; the next run settles what is open with the results that had come. */
  | { readonly what: 'abort'; readonly at: number; readonly came: number }
  | { readonly what: 'say'; readonly text: string }
  | { readonly what: 'save_and_load' }
  /** Somebody else's code writes an item, or loses one. */
  | { readonly what: 'damage'; readonly at: number; readonly item: AgentItem | undefined };

const at = fc.nat();
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ what: fc.constant('compact' as const), at }),
  fc.record({ what: fc.constant('abort' as const), at, came: fc.nat({ max: 3 }) }),
  fc.record({ what: fc.constant('say' as const), text: fc.string() }),
  fc.record({ what: fc.constant('save_and_load' as const) }),
  fc.record({ what: fc.constant('damage' as const), at, item: fc.option(anyItem, { nil: undefined }) }),
);

function after(items: readonly AgentItem[], happened: Event): readonly AgentItem[] {
  const place = 'at' in happened ? happened.at % (items.length + 1) : 0;
  switch (happened.what) {
    case 'compact': {
      const cut = groupsOf(items).find(({ end }) => end > place)?.start ?? items.length;
      const kept = items.slice(cut).filter(({ kind }) => kind !== 'compaction_summary');
      return [summary('What was before.'), ...kept];
    }
    case 'abort': {
      const left = items.slice(0, place);
      const batch = left.at(-1);
      return batch?.kind === 'tool_call_batch' ? [...left, settled(batch, happened.came)] : left;
    }
    case 'say':
      return [...items, user(happened.text)];
    case 'save_and_load':
      return JSON.parse(JSON.stringify(items)) as readonly AgentItem[];
    case 'damage':
      return happened.item === undefined ? items.toSpliced(place, 1) : items.toSpliced(place, 0, happened.item);
  }
}

function settled(batch: ToolCallBatch, came: number): AgentItem {
  const stored = batch.calls.slice(0, came).filter(({ argumentsError }) => argumentsError === undefined);
  return settle(
    batch,
    stored.map(({ callId }) => result(callId)),
    {},
  );
}

test('whatever happens to a session, its next request is well formed; only damage and half responses need repairs', () => {
  fc.assert(
    fc.property(legalTranscript, fc.array(event, { maxLength: 8 }), (start, events) => {
      let items = start;
      for (const happened of events) {
        const raw = after(items, happened);
        const { items: mended, repairs } = normalize(raw);
        expect(validate(mended, { tail: 'closed' })).toEqual([]);
        expect(pairingFaults(toMessages(mended))).toEqual([]);
        if (happened.what !== 'damage' && happened.what !== 'abort') expect(repairs).toEqual([]);
        // A run that is cut leaves a half response at worst: nothing but its end may need repair.
        if (happened.what === 'abort') expect(raw.slice(0, -1)).toEqual(mended.slice(0, raw.length - 1));
        items = mended;
      }
    }),
    { numRuns: RUNS },
  );
});
