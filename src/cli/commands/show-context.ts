import { wholeView } from '../../client/whole-view.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { type ExplainedItem, explainView } from '../../transcript/explain-view.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson, printRows } from '../output.ts';
import { visibleLine } from '../render/visible.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** Tells of each item of a session what the next request would do with it, why, and how many tokens it takes. */
export function showContext(settings: Settings, sessionId: string, output: Output | undefined): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const run = (await store.runs(sessionId)).at(-1) ?? (await store.run(sessionId));
    if (run === undefined) throw new HoldfastError('NotFound', `no session or run is called "${sessionId}"`);
    const explained = explainView(await wholeView(store, run));
    if (output === 'json') printJson(explained);
    else printRows(output, explained.items, () => `${explained.items.map(line).join('')}${explained.tokens} tokens\n`);
    return EXIT.ok;
  });
}

function line({ seq, kind, fate, why, tokens, originalTokens }: ExplainedItem): string {
  const where = seq === null ? '–' : `#${seq}`;
  const was = originalTokens === tokens ? '' : ` (of ${originalTokens} tokens)`;
  return `${where.padStart(6)}  ${String(tokens).padStart(7)}  ${fate.padEnd(10)}  ${kind.padEnd(18)}  ${visibleLine(why, 100)}${was}\n`;
}
