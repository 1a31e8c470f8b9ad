import { z } from 'zod';
import type { FactKind, FactRow } from '../../store/facts-port.ts';
import type { Store } from '../../store/store.ts';
import { headOf } from '../../transcript/well-formed.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';

/** Facts given at once. */
const MAX_FACTS = 40;
/** Characters of one fact. */
const MAX_CHARS = 300;
/** So many quarantined ones are counted; beyond it is "more than". */
const MAX_COUNTED = 1000;

const KINDS: readonly FactKind[] = ['memory', 'file', 'command', 'url', 'identifier'];

const input = z.object({
  query: z
    .string()
    .max(400)
    .optional()
    .describe('Words that the fact must hold, all of them. Without it: all memories.'),
});

/** What recalling needs of the store. */
export type MemoryReader = Pick<Store, 'facts'>;

/** The tool `recall`: memories, and with a query what the session's tools touched: files, commands, URLs, exact names. */
export function createRecall(store: MemoryReader): Tool {
  return defineTool({
    name: 'recall',
    description:
      'Finds remembered facts, and files, commands, URLs and exact names of this conversation. Without a query it lists the memories.',
    input,
    annotations: { title: 'Recall', readOnlyHint: true, openWorldHint: false },
    quick: true,
    resultSemantic: 'factual',
    label: ({ query = '' }) => `recall ${query}`,
    execute: async ({ query = '' }, { sessionId }) => {
      const words = query.trim();
      const wanted = { sessionId, ...(words === '' ? {} : { words }) };
      const kinds = words === '' ? KINDS.slice(0, 1) : KINDS;
      const found = await store.facts({ ...wanted, kinds, statuses: ['active'], limit: MAX_FACTS + 1 });
      const aside = await store.facts({ ...wanted, kinds, statuses: ['quarantined'], limit: MAX_COUNTED + 1 });
      return [...listed(found, words), ...setAside(aside.length)].join('\n');
    },
  });
}

function listed(found: readonly FactRow[], words: string): readonly string[] {
  if (found.length === 0)
    return [
      words === ''
        ? '[nothing is remembered yet]'
        : '[no fact holds all of these words; search_transcript finds what was said]',
    ];
  const lines = found.slice(0, MAX_FACTS).map(factLine);
  return found.length > MAX_FACTS ? [...lines, '[there are more: add words to the query]'] : lines;
}

function factLine({ kind, scope, text, sourceSeq }: FactRow): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const shown = line.length > MAX_CHARS ? `${headOf(line, MAX_CHARS)}…` : line;
  // A fact of the workspace may come from another session, whose numbers mean nothing here.
  return `- ${kind}: ${shown}${sourceSeq === null || scope === 'workspace' ? '' : ` [#${sourceSeq}]`}`;
}

function setAside(count: number): readonly string[] {
  if (count === 0) return [];
  const many = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(count);
  return [`[${many} from tool output only: quarantined until the user allows them with \`holdfast memory\`]`];
}
