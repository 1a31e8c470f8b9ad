import { type Command, CommanderError } from 'commander';
import { EXIT } from './exit-codes.ts';
import { failureOf, failureText } from './failure.ts';
import { buildProgram } from './program.ts';

// A reader that goes away (head, less) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.ok);
  throw error;
});

let debug = process.env.HOLDFAST_DEBUG === '1' || process.argv.includes('--debug');
const program = buildProgram((code) => {
  process.exitCode = code;
});
for (const command of everyCommand(program)) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    debug ||= program.opts().debug === true;
    process.stderr.write(failureText(error, debug));
    process.exitCode = failureOf(error).exitCode;
  }
}
// Nothing that a library left open (a connection, a timer) may keep us: all that matters has been awaited.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit();

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
