import { beforeAll, describe, expect, test } from 'vitest';
import type { AgentItem } from '../../src/transcript/items.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { ALPHABET, allOutcomes, LENGTH, type Outcomes } from './all-lists.ts';
import { pairingFaults } from './strict-pairing.ts';
import { WIRES, type Wire } from './wires.ts';

const TOOL = { name: 'tool', description: 'A tool.', inputSchema: { type: 'object', properties: {} } };

describe(`all transcripts of up to ${LENGTH} items over ${ALPHABET.length} kinds of item`, () => {
  let all: Outcomes;
  beforeAll(() => {
    all = allOutcomes();
    console.log(`${all.lists} transcripts normalised, ${all.outcomes.length} different outcomes`);
  });

  test('were all looked at', () => {
    expect(all.lists).toBe((ALPHABET.length ** (LENGTH + 1) - 1) / (ALPHABET.length - 1));
  });

  test('are valid once normalised', () => {
    expect(
      failures(all.outcomes, (items) => validate(items, { tail: 'closed' }).map(({ message }) => message)),
    ).toEqual([]);
  });

  test('leave nothing unpaired in their messages', () => {
    expect(failures(all.outcomes, (items) => pairingFaults(toMessages(items)))).toEqual([]);
  });

  test.each(WIRES)('are accepted on the wire, up to $length items: $name', (wire) => {
    const bodies = all.outcomes.slice(0, all.upTo[wire.length]).filter((items) => items.length > 0);
    expect(failures(bodies, (items) => wire.check(wire.toWire(requestOf(items, wire))))).toEqual([]);
    console.log(`${bodies.length} different requests accepted by the rules of ${wire.name}`);
  });
});

function requestOf(items: readonly AgentItem[], wire: Wire): MessageRequest {
  const own = items.map((item) => (item.kind === 'builtin_tool_event' ? wire.native(item) : item));
  return { model: 'model', messages: toMessages(own), tools: [TOOL] };
}

/** The first three lists with faults: enough to read. */
function failures(
  lists: readonly (readonly AgentItem[])[],
  faultsOf: (items: readonly AgentItem[]) => readonly string[],
): readonly object[] {
  const failed: object[] = [];
  for (const items of lists) {
    const faults = faultsOf(items);
    if (faults.length > 0) failed.push({ faults, items: items.map(brief) });
    if (failed.length === 3) break;
  }
  return failed;
}

function brief(item: AgentItem): string {
  const response = 'response' in item ? `${item.response.id} ` : '';
  if (item.kind === 'tool_call_batch') return `${response}calls ${item.calls.map(({ callId }) => callId)}`;
  if (item.kind === 'tool_result_batch') return `results ${item.results.map(({ callId }) => callId)}`;
  return item.kind === 'builtin_tool_event' ? `${response}builtin ${item.phase}` : `${response}${item.kind}`;
}
