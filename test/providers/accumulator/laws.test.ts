import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAccumulator } from '../../../src/providers/accumulator.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { UnifiedStopReason } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';
import { validate } from '../../../src/transcript/validate.ts';

const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) };

const part = fc.nat({ max: 4 });
const text = fc.constantFrom('', ' ', 'a', 'b\n', '🌍');
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record({ type: fc.constant('text_delta' as const), part, text }),
  fc.record({ type: fc.constant('refusal_delta' as const), part, text }),
  fc.record({ type: fc.constant('reasoning_delta' as const), part, text }),
  fc.record({
    type: fc.constant('tool_call_delta' as const),
    part,
    nativeId: fc.constantFrom('', 'x', 'y'),
    name: fc.constantFrom('', 'run', 'read'),
    arguments: fc.constantFrom('', '{}', '{"a":1}', '{"a"', ':2}', 'null', '[]', '{"__proto__":1}'),
  }),
  fc.record({ type: fc.constant('replay' as const), part, data: fc.constantFrom({ s: 1 }, { t: 2 }) }),
  fc.record({
    type: fc.constant('builtin_tool' as const),
    part,
    phase: fc.constant('call' as const),
    nativeId: fc.constantFrom('w1', 'w2'),
    name: fc.constant('web_search'),
    payload: fc.constant(null),
  }),
  fc.record({ type: fc.constant('part_done' as const), part }),
);
const stop = fc.constantFrom<UnifiedStopReason>(
  'stop',
  'tool_calls',
  'length',
  'refusal',
  'content_filter',
  'pause',
  'context_overflow',
);

function accumulated(events: readonly StreamEvent[]) {
  let n = 0;
  const accumulator = createAccumulator({
    response: { provider: 'p', api: 'anthropic', model: 'm' },
    scope: { endpoint: 'e', account: 'a', model: 'm' },
    mintCallId: () => `call${++n}`,
    mintResponseId: () => 'r',
  });
  for (const one of events) accumulator.add(one);
  return accumulator;
}

/** Part numbers of all blocks and calls, in the order of the items. */
function partsOf(items: readonly AgentItem[]): (number | undefined)[] {
  return items.flatMap((item) => {
    if (item.kind === 'assistant_message') return item.content.map((block) => block.part);
    if (item.kind === 'tool_call_batch') return item.calls.map((call) => call.part);
    return item.kind === 'reasoning_summary' || item.kind === 'builtin_tool_event' ? [item.part] : [];
  });
}

test('whatever comes, the items are a valid transcript, numbered without gap, with the batch last', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 14 }), stop, (events, unified) => {
      const accumulator = accumulated([...events, { type: 'finished', stopReason: { unified, raw: unified } }]);
      const { items } = accumulator.finish();
      expect(validate(items, { tail: 'open' })).toEqual([]);
      expect(partsOf(items).sort((a, b) => Number(a) - Number(b))).toEqual(partsOf(items).map((_, i) => i));
      expect(items.findIndex((item) => item.kind === 'tool_call_batch')).toBeOneOf([-1, items.length - 1]);
    }),
    RUNS,
  );
});

test('text is never lost or made up, and a cut answer keeps all of it', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 14 }), stop, (events, unified) => {
      const said = new Map<string, { part: number; text: string }>();
      for (const one of events) {
        if (one.type !== 'text_delta' && one.type !== 'refusal_delta') continue;
        const key = `${one.part}${one.type}`;
        said.set(key, { part: one.part, text: (said.get(key)?.text ?? '') + one.text });
      }
      const expected = [...said.values()].filter((s) => s.text.trim() !== '').sort((a, b) => a.part - b.part);
      const textOf = (items: readonly AgentItem[]): string[] =>
        items.flatMap((item) =>
          item.kind === 'assistant_message' ? item.content.map((b) => ('text' in b ? b.text : '')) : [],
        );
      const accumulator = accumulated(events);
      const partial = accumulator.partial();
      expect(textOf(partial)).toEqual(expected.map((s) => s.text));
      expect(partial.every((item) => item.kind === 'assistant_message' && item.interrupted === true)).toBe(true);
      accumulator.add({ type: 'finished', stopReason: { unified, raw: unified } });
      expect(textOf(accumulator.finish().items)).toEqual(expected.map((s) => s.text));
    }),
    RUNS,
  );
});
