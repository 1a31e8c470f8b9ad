import type { Command, Option } from 'commander';
import type { ApprovalResolution } from '../contract/messages.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import type { Settings } from './settings.ts';

interface Shared {
  readonly settings: () => Promise<Settings>;
  readonly output: () => Option;
  readonly done: (code: ExitCode) => void;
}
interface DecideFlags {
  readonly note?: string;
  readonly session?: boolean;
  readonly output?: Output;
}

/** `holdfast approvals`, `approve` and `deny`. */
export function addApprovalCommands(program: Command, { settings, output, done }: Shared): void {
  program
    .command('approvals')
    .description('list the tool calls that wait for an approval, with their arguments and deadlines')
    .argument('[session]', 'only those of this session')
    .option('--all', 'arguments in full, however long')
    .addOption(output())
    .action(async (session: string | undefined, flags: { all?: boolean; output?: Output }) => {
      const { approvals } = await import('./commands/approvals.ts');
      done(await approvals({ settings: await settings(), session, all: flags.all === true, output: flags.output }));
    });
  const decided = async (
    session: string,
    call: string | undefined,
    decision: ApprovalResolution['decision'],
    { note, output: format }: DecideFlags,
  ): Promise<void> => {
    const { decide } = await import('./commands/decide.ts');
    done(await decide({ settings: await settings(), session, call, decision, note, output: format }));
  };
  program
    .command('approve')
    .description('let a tool call that waits be run')
    .argument('<session>')
    .argument('[call]', 'its id, or the beginning of it; the only one that waits without it')
    .option('--session', 'and all later calls of that tool in this session')
    .option('--note <text>', 'kept with the decision')
    .addOption(output())
    .action((session: string, call: string | undefined, flags: DecideFlags) =>
      decided(session, call, flags.session === true ? 'approve_session' : 'approve', flags),
    );
  program
    .command('deny')
    .description('keep a tool call that waits from being run')
    .argument('<session>')
    .argument('[call]', 'its id, or the beginning of it; the only one that waits without it')
    .option('--note <text>', 'why, for the model')
    .addOption(output())
    .action((session: string, call: string | undefined, flags: DecideFlags) => decided(session, call, 'deny', flags));
}
