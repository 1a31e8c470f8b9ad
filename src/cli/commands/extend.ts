import type { BudgetExtension } from '../../contract/messages.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { budgetLine } from '../render/budget-line.ts';
import type { Settings } from '../settings.ts';
import { withClient } from '../with-client.ts';

/** Adds to the budgets of a session's open run, and tells what was used of them before. */
export function extend(settings: Settings, session: string, extension: BudgetExtension): Promise<ExitCode> {
  return withClient(settings, async (client) => {
    const { runId } = await client.extendBudget(session, extension);
    const uses = await client.store.budgets(runId);
    process.stdout.write(`The budget of session ${session} is extended.\n${uses.map(budgetLine).join('')}`);
    return EXIT.ok;
  });
}
