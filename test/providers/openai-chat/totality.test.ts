import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import { ProviderError } from '../../../src/providers/errors.ts';
import { DIALECTS } from '../../../src/providers/openai-chat/dialects.ts';
import { createChatReader } from '../../../src/providers/openai-chat/from-wire.ts';
import { StreamFailure } from '../../../src/providers/stream-failure.ts';
import { toolNames } from '../../../src/providers/tool-names.ts';
import { TOOLS } from './read.ts';

const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) };

/** JSON in which the keys that readers look at stand in places where nobody expects them. */
const KEYS = [
  'choices',
  'delta',
  'message',
  'content',
  'tool_calls',
  'function',
  'arguments',
  'name',
  'id',
  'index',
  'error',
  'code',
  'type',
  'usage',
  'finish_reason',
  'reasoning_details',
  'extra_content',
  'metadata',
  'raw',
  'details',
  'base_resp',
  '__proto__',
];
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, 429, '', 'stop', '{"a":1}', '<tool_call>', 'context_length_exceeded'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

test('no body makes the classifier throw', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 200, 400, 401, 429, 500, 529), (body, status) => {
      expect(classify({ status, headers: new Headers(), body, nowMs: 0 })).toBeInstanceOf(ProviderError);
    }),
    RUNS,
  );
});

test('no chunk makes the reader fail but with an error of the provider', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 4 }), fc.constantFrom('done', 'closed'), (chunks, ending) => {
      const reader = createChatReader(DIALECTS.generic, toolNames(TOOLS));
      try {
        for (const one of chunks) reader.push({ choices: [{ index: 0, delta: one }] });
        for (const one of chunks) reader.push(one);
        reader.end(ending);
      } catch (error) {
        if (!(error instanceof ProviderError) && !(error instanceof StreamFailure)) throw error;
      }
    }),
    RUNS,
  );
});
