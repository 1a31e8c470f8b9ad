import { type Command, InvalidArgumentError } from 'commander';
import { HoldfastError } from '../contract/errors.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Settings } from './settings.ts';
import { userName } from './user-name.ts';

interface ExtendFlags {
  readonly usd?: number;
  readonly tokens?: number;
  readonly minutes?: number;
}

/** `holdfast extend`. */
export function addBudgetCommand(
  program: Command,
  { settings, done }: { readonly settings: () => Promise<Settings>; readonly done: (code: ExitCode) => void },
): void {
  program
    .command('extend')
    .description('add to the budgets of the open run of a session; one that waits for it goes on')
    .argument('<session>')
    .option('--usd <amount>', 'US dollars', positive)
    .option('--tokens <amount>', 'tokens, input and output together', positive)
    .option('--minutes <amount>', 'minutes of work', positive)
    .action(async (session: string, { usd, tokens, minutes }: ExtendFlags) => {
      if (usd === undefined && tokens === undefined && minutes === undefined) {
        throw new HoldfastError('InvalidInput', 'say what to add: --usd, --tokens or --minutes');
      }
      const { extend } = await import('./commands/extend.ts');
      const extension = {
        by: userName(),
        ...(usd === undefined ? {} : { maxUsd: usd }),
        ...(tokens === undefined ? {} : { maxTokens: tokens }),
        ...(minutes === undefined ? {} : { maxDurationMs: Math.round(60_000 * minutes) }),
      };
      done(await extend(await settings(), session, extension));
    });
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number above 0');
  return value;
}
