import { describe, expect, test } from 'vitest';
import { windowBudget } from '../../src/transcript/budget.ts';
import { cutPoint } from '../../src/transcript/cut-point.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { buildView } from '../../src/transcript/view.ts';
import { findCase } from './find-case.ts';
import { openLab } from './runner/lab.ts';
import { brokenLaws } from './runner/laws.ts';
import { bodyOf, requestOf } from './runner/next-request.ts';
import { parseTarget } from './runner/target.ts';
import { buildTranscript } from './runner/transcript.ts';
import { partsOf } from './runner/wire-reader.ts';

const OPEN = [
  { id: 'c-06-call-without-output', call: 'call_1', output: 'BIG' },
  { id: 'g-02-open-call-at-compaction', call: 'c9', output: 'ok' },
] as const;

/** Entries of a running run: everything is its own. */
const entriesOf = (items: readonly AgentItem[]): TranscriptEntry[] =>
  items.map((item, at) => ({ seq: at + 1, runId: 'open', step: 0, item }));

describe.each(OPEN)('$id: a compaction while a call is open', ({ id, call, output }) => {
  test.each(['openai-chat', 'openai-responses', 'anthropic'])(
    'keeps the call in the tail; on %s it is answered once',
    async (words) => {
      const { input } = findCase(id);
      const target = parseTarget(words);
      const lab = await openLab();
      try {
        const { items } = await buildTranscript(input.transcript, target, lab);
        const budget = windowBudget({ window: Number(input.window) });
        const running = buildView({ entries: entriesOf(items), budget });
        // Nothing but the newest group is wanted: a cut that could take the call would take it now.
        const cut = cutPoint(running, { keepRecent: 1, openRunId: 'open' });
        const batch = items.findIndex((item) => item.kind === 'tool_call_batch') + 1;
        expect(cut?.dropped.some((part) => part.seq !== null && part.seq >= batch) ?? false).toBe(false);

        const later = await buildTranscript(
          [...(input.transcript as unknown[]), { results: [{ id: call, output }] }],
          target,
          lab,
        );
        const checkpoint =
          cut === undefined
            ? {}
            : {
                checkpoint: {
                  compactionId: 'c',
                  summary: 'Earlier.',
                  firstKeptSeq: cut.firstKeptSeq,
                  protectedSeqs: cut.protectedSeqs,
                },
              };
        const view = buildView({ entries: entriesOf(later.items), budget, ...checkpoint });
        const tools = later.toolNames.map((name) => ({
          name,
          description: 'A tool.',
          inputSchema: { type: 'object', properties: {} },
        }));
        const request = bodyOf(lab, target, requestOf(view.items, { model: 'm', tools }));
        expect(brokenLaws(target, request)).toEqual([]);
        expect(partsOf(request, 'call').map((part) => part.id)).toEqual([call]);
        expect(partsOf(request, 'result').map((part) => [part.id, part.text])).toEqual([[call, output]]);
      } finally {
        await lab.close();
      }
    },
  );
});
