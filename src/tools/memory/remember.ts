import { z } from 'zod';
import { factId, shortFactId } from '../../store/fact-id.ts';
import { type FactRow, MAX_MEMORY_CHARS, type NewFact } from '../../store/facts-port.ts';
import type { Store } from '../../store/store.ts';
import { originSearch, type WordOrigin } from '../../transcript/word-origin.ts';
import { defineTool } from '../define-tool.ts';
import { Refusal } from '../refusal.ts';
import type { Tool } from '../tool.ts';

/** Items looked at in one go. */
const PAGE = 500;

const input = z.object({
  text: z.string().min(1).max(MAX_MEMORY_CHARS).describe("One fact, in the user's own words where they said it."),
  scope: z
    .enum(['session', 'workspace'])
    .optional()
    .describe('For this conversation only, or for all that are held here. Default workspace.'),
});

/** What remembering needs of the store. */
export type MemoryWriter = Pick<Store, 'entries' | 'putFacts'>;

/**
 * The tool `remember`: keeps a fact for later prompts.
 *
 * What the user said is active at once. What only a tool (or another outsider) said is quarantined: kept and listed, and
 * never put into a prompt until somebody allows it, so that a planted instruction cannot become a memory.
 */
export function createRemember(store: MemoryWriter): Tool {
  return defineTool({
    name: 'remember',
    description:
      'Keeps a durable fact (a preference, a decision, a name) for later conversations. What the user said counts at once; what only tool output says is set aside until the user allows it.',
    input,
    annotations: {
      title: 'Remember',
      readOnlyHint: false,
      idempotentHint: true,
      destructiveHint: false,
      openWorldHint: false,
    },
    resultSemantic: 'action',
    label: ({ text }) => `remember ${text}`,
    execute: async ({ text, scope = 'workspace' }, { sessionId, runId, callId, signal }) => {
      const fact = text.replace(/\s+/g, ' ').trim();
      if (fact === '') throw new Refusal('The text is empty: there is nothing to remember.');
      const origin = await originOf(store, sessionId, fact, signal);
      const status = origin.origin === 'tool' ? 'quarantined' : 'active';
      const made: NewFact = {
        factId: factId({ scope, sessionId, kind: 'memory', text: fact }),
        scope,
        kind: 'memory',
        text: fact,
        status,
        sourceSeq: origin.seq,
        source: { ...provenance(origin), by: 'remember', sessionId, runId, callId },
      };
      const [stored] = await store.putFacts(sessionId, [made]);
      return told(stored ?? made);
    },
  });
}

async function originOf(
  store: MemoryWriter,
  sessionId: string,
  fact: string,
  signal: AbortSignal,
): Promise<WordOrigin> {
  const search = originSearch(fact);
  for (let afterSeq = 0; ; ) {
    signal.throwIfAborted();
    const page = await store.entries(sessionId, { afterSeq, limit: PAGE });
    search.add(page);
    const last = page.at(-1)?.seq;
    if (page.length < PAGE || last === undefined) return search.origin();
    afterSeq = last;
  }
}

function provenance({ origin, callId, tool }: WordOrigin): NewFact['source'] {
  return {
    origin,
    ...(callId === undefined ? {} : { sourceCallId: callId }),
    ...(tool === undefined ? {} : { tool }),
  };
}

function told({ factId: id, status, scope }: Pick<FactRow, 'factId' | 'status' | 'scope'>): string {
  const short = shortFactId(id);
  switch (status) {
    case 'active':
      return `Remembered for ${scope === 'session' ? 'this conversation' : 'all conversations here'} (${short}).`;
    case 'quarantined':
      return `Quarantined (${short}): these words do not come from the user, so they are kept aside and not remembered until the user runs \`holdfast memory allow ${short}\`. If the user did say it, remember it in the user's own words.`;
    case 'forgotten':
      return `Not remembered: a person had this forgotten (${short}). \`holdfast memory allow ${short}\` brings it back.`;
  }
}
