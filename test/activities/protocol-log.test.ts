import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pairingIssues } from '../../src/activities/protocol-log.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { brokenTranscript, RUNS } from '../transcript/arbitraries.ts';
import { pairingFaults } from '../transcript/strict-pairing.ts';

test('no request made of a normalised transcript has a pairing issue', () => {
  fc.assert(
    fc.property(brokenTranscript, (items) => {
      expect(pairingIssues(toMessages(normalize(items).items))).toBe(0);
    }),
    { numRuns: RUNS },
  );
});

test('a message taken out of a well-formed request is seen where a strict reader sees it', () => {
  fc.assert(
    fc.property(brokenTranscript, fc.nat(), (items, at) => {
      const messages = [...toMessages(normalize(items).items)];
      if (messages.length === 0) return;
      messages.splice(at % messages.length, 1);
      const broken = pairingFaults(messages).some(
        (fault) => /results|without/.test(fault) && !fault.includes('builtin'),
      );
      expect(pairingIssues(messages) > 0).toBe(broken);
    }),
    { numRuns: RUNS },
  );
});
