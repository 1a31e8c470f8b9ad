import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupsOf } from '../../src/transcript/groups.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { mend } from '../../src/transcript/mend.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { validate } from '../../src/transcript/validate.ts';
import { anyTranscript, brokenTranscript, legalTranscript, RUNS } from './arbitraries.ts';
import { replayRepairs } from './replay-repairs.ts';

const options = { numRuns: RUNS };

test('a legal transcript is valid, and normalising gives back the same list', () => {
  fc.assert(
    fc.property(legalTranscript, (items) => {
      expect(validate(items, { tail: 'closed' })).toEqual([]);
      expect(normalize(items).items).toBe(items);
      expect(mend(items).items).toBe(items);
    }),
    options,
  );
});

test('what normalize returns is valid', () => {
  fc.assert(
    fc.property(anyTranscript, (items) => {
      expect(validate(normalize(items).items, { tail: 'closed' })).toEqual([]);
    }),
    options,
  );
});

test('a list needs repairs exactly when it has violations', () => {
  fc.assert(
    fc.property(anyTranscript, (items) => {
      expect(mend(items).repairs.length === 0).toBe(validate(items, { tail: 'closed' }).length === 0);
      expect(normalize(items)).toEqual(mend(items));
    }),
    options,
  );
});

test('the output is the input plus and minus exactly what the repairs list', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const { items: output, repairs } = normalize(items);
      expect(replayRepairs(items, repairs)).toEqual(output);
    }),
    options,
  );
});

test('normalising twice is normalising once', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const once = normalize(items).items;
      const twice = mend(once);
      expect(twice.repairs).toEqual([]);
      expect(twice.items).toBe(once);
    }),
    options,
  );
});

test('repairs are JSON: saving and loading changes nothing', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const { repairs } = normalize(items);
      expect(JSON.parse(JSON.stringify(repairs))).toEqual(repairs);
    }),
    options,
  );
});

test('texts of users and assistants are never removed, and keep their order among their own', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const output = normalize(items).items;
      expect(said(output, 'assistant_message')).toEqual(said(items, 'assistant_message'));
      expect(said(output, 'user_message')).toEqual(said(items, 'user_message'));
    }),
    options,
  );
});

test('a prefix that ends between two groups is repaired alike whatever follows', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const whole = normalize(items).items;
      for (const { end } of groupsOf(items)) {
        const prefix = normalize(items.slice(0, end)).items;
        expect(whole.slice(0, prefix.length)).toEqual(prefix);
      }
    }),
    options,
  );
});

test('normalize does not touch its input', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      const before = structuredClone(items);
      normalize(items);
      expect(items).toEqual(before);
    }),
    options,
  );
});

/** All texts of one kind of message, in order; messages whose texts are all empty say nothing. */
function said(items: readonly AgentItem[], kind: 'user_message' | 'assistant_message'): readonly string[] {
  return items.flatMap((item) => {
    if (item.kind !== kind) return [];
    const texts = item.content.flatMap((block) => ('text' in block ? [block.text] : []));
    return kind === 'user_message' ? texts : texts.filter((one) => one !== '');
  });
}
