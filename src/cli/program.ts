import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { HoldfastError } from '../contract/errors.ts';
import { addApprovalCommands } from './approval-commands.ts';
import { addBudgetCommand } from './budget-command.ts';
import type { ExitCode } from './exit-codes.ts';
import { addMemoryCommands } from './memory-commands.ts';
import { OUTPUTS, type Output } from './output.ts';
import { readPrompt } from './read-prompt.ts';
import type { GlobalOptions, Settings } from './settings.ts';

interface OutputOption {
  readonly output?: Output;
}
interface ModelOptions {
  readonly agent?: string;
  readonly model?: string;
}

/** All commands, each loaded when it is called; `done` gets the exit code of the one that ran. */
export function buildProgram(done: (code: ExitCode) => void, version: string = packageVersion()): Command {
  const program = new Command('holdfast')
    .description('AI agents that hold: every agent run is a durable Temporal workflow.')
    .version(version)
    .option('--folder <dir>', 'workspace to work on (default: the current folder)')
    .option('--debug', 'show where errors come from')
    .showHelpAfterError('(holdfast --help tells the commands)');
  const settings = async (): Promise<Settings> => {
    const { settingsOf } = await import('./settings.ts');
    return settingsOf(program.opts<GlobalOptions>());
  };
  const output = (): Option => new Option('--output <format>', 'format of what is printed').choices(OUTPUTS);

  program
    .command('run')
    .description('run an agent on a question and show it; starts a server and a worker where none run')
    .argument('[prompt...]', 'the question; from standard input without it')
    .option('--session <id>', 'go on in this session')
    .option('--agent <name>', 'agent of holdfast.config.ts')
    .option('--model <provider/model>', 'model for this run')
    .option('--attach <file...>', 'images, audio or files that go with the question')
    .addOption(output())
    .action(async (words: string[], options: ModelOptions & OutputOption & { session?: string; attach?: string[] }) => {
      const text = await readPrompt(words);
      const { run } = await import('./commands/run.ts');
      done(
        await run({
          ...options,
          settings: await settings(),
          text,
          output: options.output,
        }),
      );
    });
  program
    .command('chat')
    .description(
      'talk with an agent: what is typed while it works steers it; starts a server and a worker where none run',
    )
    .option('--session <id>', 'go on in this session')
    .option('--agent <name>', 'agent of holdfast.config.ts')
    .option('--model <provider/model>', 'model to begin with')
    .addOption(output())
    .action(async (options: ModelOptions & OutputOption & { session?: string }) => {
      const { chat } = await import('./commands/chat.ts');
      done(await chat({ ...options, settings: await settings(), output: options.output }));
    });
  program
    .command('dev')
    .description('start a Temporal dev server and a worker for the folder, until Ctrl-C')
    .action(async () => {
      const { dev } = await import('./commands/dev.ts');
      done(await dev(await settings()));
    });
  program
    .command('worker')
    .description('start a worker against the server that there is, until Ctrl-C')
    .action(async () => {
      const { worker } = await import('./commands/worker.ts');
      done(await worker(await settings()));
    });
  program
    .command('send')
    .description('send a message to a session: it starts a run, or joins or queues behind the open one')
    .argument('<session>')
    .argument('[text...]', 'the message; from standard input without it')
    .option('--steer', 'join the open run at its next step instead of queueing behind it')
    .option('--deny-pending', 'deny the approvals that the open run waits for, so that it reads the message (steers)')
    .option('--agent <name>', 'agent of holdfast.config.ts')
    .option('--model <provider/model>', 'model for this run')
    .option('--message-id <id>', 'the same id is answered once, however often it is sent')
    .option('--follow', 'show the run that answers until it ends')
    .addOption(output())
    .action(async (session: string, words: string[], options: ModelOptions & OutputOption & SendFlags) => {
      const text = await readPrompt(words);
      const [denyPending, follow] = [options.denyPending === true, options.follow === true];
      const steer = options.steer === true || denyPending;
      const { send } = await import('./commands/send.ts');
      done(
        await send({
          ...options,
          settings: await settings(),
          session,
          text,
          steer,
          denyPending,
          follow,
          output: options.output,
        }),
      );
    });
  program
    .command('cancel')
    .description('ask the open run of a session to stop')
    .argument('<session>')
    .option('--reason <text>', 'kept with the run')
    .action(async (session: string, { reason }: { reason?: string }) => {
      const { cancel } = await import('./commands/cancel.ts');
      done(await cancel(await settings(), session, reason));
    });
  program
    .command('compact')
    .description('replace an old part of a session by a summary, and tell what came of it')
    .argument('<session>')
    .option('--instructions <text>', 'what the summary should keep above all')
    .addOption(output())
    .action(async (session: string, { instructions, output }: OutputOption & { instructions?: string }) => {
      const { compact } = await import('./commands/compact.ts');
      done(await compact({ settings: await settings(), session, instructions, output }));
    });
  program
    .command('sessions')
    .description('list the sessions of the folder, newest first')
    .addOption(new Option('--limit <n>', 'how many').default(50).argParser(wholeNumber))
    .option('--all', "subagents' sessions too")
    .addOption(output())
    .action(async ({ limit, all = false, output }: OutputOption & { limit: number; all?: boolean }) => {
      const { sessions } = await import('./commands/sessions.ts');
      done(await sessions(await settings(), { limit, all, output }));
    });
  program
    .command('show')
    .description('show a session with its transcript, or a run with its steps')
    .argument('<session-or-run>')
    .addOption(
      new Option('--request <step>', 'print the request of that step of a run, byte for byte').argParser(wholeNumber),
    )
    .addOption(new Option('--context', 'tell what the next request would do with each item, and why'))
    .addOption(new Option('--compactions', 'tell what each compaction cut, what it cost and how it scored'))
    .addOption(new Option('--all', 'whole tool outputs, and each summary at its place'))
    .addOption(output())
    .action(async (named: string, options: OutputOption & ShowFlags) => {
      onlyOne(options, ['request', 'context', 'compactions', 'all']);
      if (options.request !== undefined) {
        const { showRequest } = await import('./commands/show-request.ts');
        return done(await showRequest(await settings(), named, options.request));
      }
      if (options.context === true) {
        const { showContext } = await import('./commands/show-context.ts');
        return done(await showContext(await settings(), named, options.output));
      }
      if (options.compactions === true) {
        const { showCompactions } = await import('./commands/show-compactions.ts');
        return done(await showCompactions(await settings(), named, options.output));
      }
      const { show } = await import('./commands/show.ts');
      done(await show(await settings(), named, options.output, { all: options.all === true }));
    });
  program
    .command('events')
    .description('print the events of a run, or of the last run of a session')
    .argument('<run-or-session>')
    .option('--follow', 'wait for more until the run has ended')
    .addOption(new Option('--from <n>', 'first index').default(0).argParser(wholeNumber))
    .addOption(output())
    .action(async (named: string, options: OutputOption & { follow?: boolean; from: number }) => {
      const follow = options.follow === true;
      const { events } = await import('./commands/events.ts');
      done(
        await events({
          settings: await settings(),
          run: named,
          from: options.from,
          follow,
          output: options.output,
        }),
      );
    });
  program
    .command('check')
    .description('say what is wrong with a transcript file: OpenAI chat, Anthropic messages, Holdfast JSON lines')
    .argument('<file>')
    .addOption(output())
    .action(async (file: string, options: OutputOption) => {
      const { check } = await import('./commands/check.ts');
      done(await check(file, options.output));
    });
  program
    .command('import')
    .description('make a new session of a transcript file, and tell what was repaired')
    .argument('<file>')
    .option('--session <id>', 'id of the new session')
    .addOption(output())
    .action(async (file: string, options: OutputOption & { session?: string }) => {
      const { importTranscript } = await import('./commands/import.ts');
      done(await importTranscript(await settings(), file, { session: options.session, output: options.output }));
    });
  program
    .command('export')
    .description('write a session as a file')
    .argument('<session>')
    .addOption(
      new Option('--format <format>', 'format of the file')
        .choices(['holdfast-jsonl', 'openai-chat', 'anthropic'])
        .default('holdfast-jsonl'),
    )
    .option('--to <file>', 'file to write (default: the standard output)')
    .action(
      async (session: string, options: { format: 'holdfast-jsonl' | 'openai-chat' | 'anthropic'; to?: string }) => {
        const { exportSession } = await import('./commands/export.ts');
        done(await exportSession(await settings(), session, { format: options.format, file: options.to }));
      },
    );
  program
    .command('fork')
    .description('begin a new session with a copy of the first items of another')
    .argument('<session>')
    .addOption(new Option('--at <seq>', 'last item that goes along').argParser(wholeNumber).makeOptionMandatory())
    .option('--as <session>', 'id of the new session')
    .addOption(output())
    .action(async (session: string, options: OutputOption & { at: number; as?: string }) => {
      const { fork } = await import('./commands/fork.ts');
      const { at, as, output } = options;
      done(await fork({ settings: await settings(), session, at, as, output }));
    });
  addBudgetCommand(program, { settings, done });
  addApprovalCommands(program, { settings, output, done });
  addMemoryCommands(program, { settings, output, done });
  program
    .command('doctor')
    .description('check everything a run needs, and say how to mend what is wrong')
    .addOption(output())
    .action(async (options: OutputOption) => {
      const { doctor } = await import('./commands/doctor.ts');
      done(await doctor(await settings(), options.output));
    });
  return program;
}

interface ShowFlags {
  readonly request?: number;
  readonly context?: boolean;
  readonly compactions?: boolean;
  readonly all?: boolean;
}

/** Each of these shows something else. */
function onlyOne(options: object, names: readonly string[]): void {
  const given = names.filter((name) => Object.hasOwn(options, name));
  if (given.length > 1) {
    throw new HoldfastError('InvalidInput', `--${given.join(' and --')} show different things: give one of them`);
  }
}

interface SendFlags {
  readonly steer?: boolean;
  readonly denyPending?: boolean;
  readonly follow?: boolean;
  readonly messageId?: string;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, from 0 on.');
  return Number(text);
}

function packageVersion(): string {
  // From dist/src/cli; the package's own file lies beside dist.
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version;
}
