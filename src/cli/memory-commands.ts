import type { Command, Option } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import { readPrompt } from './read-prompt.ts';
import type { Settings } from './settings.ts';

interface Shared {
  readonly settings: () => Promise<Settings>;
  readonly output: () => Option;
  readonly done: (code: ExitCode) => void;
}
interface MemoryFlags {
  readonly session?: string;
  readonly output?: Output;
}

/** `holdfast memory …`: what agents remember, and who may have it remembered. */
export function addMemoryCommands(program: Command, { settings, output, done }: Shared): void {
  const memory = program.command('memory').description('what agents remember: list, allow, forget, add');
  memory
    .command('list')
    .description('list memories with where they come from; quarantined ones stand in no prompt until they are allowed')
    .option('--session <id>', 'only what this session may see')
    .option('--all', 'forgotten ones, and the files, commands, URLs and names of tool calls too')
    .addOption(output())
    .action(async ({ session, all, output }: MemoryFlags & { all?: boolean }) => {
      const { memoryList } = await import('./commands/memory.ts');
      done(await memoryList({ settings: await settings(), session, all: all === true, output }));
    });
  memory
    .command('allow')
    .description('let a quarantined or forgotten memory into later prompts')
    .argument('<id>', 'its id, or the beginning of it')
    .addOption(output())
    .action(async (id: string, { output }: MemoryFlags) => {
      const { memoryAllow } = await import('./commands/memory.ts');
      done(await memoryAllow({ settings: await settings(), id, output }));
    });
  memory
    .command('forget')
    .description('keep a memory out of later prompts, and from being learnt again')
    .argument('<id>', 'its id, or the beginning of it')
    .addOption(output())
    .action(async (id: string, { output }: MemoryFlags) => {
      const { memoryForget } = await import('./commands/memory.ts');
      done(await memoryForget({ settings: await settings(), id, output }));
    });
  memory
    .command('add')
    .description('have something remembered in later prompts')
    .argument('[text...]', 'one sentence; from standard input without it')
    .option('--session <id>', 'in this session only')
    .addOption(output())
    .action(async (words: string[], { session, output }: MemoryFlags) => {
      const text = await readPrompt(words, 'memory');
      const { memoryAdd } = await import('./commands/memory.ts');
      done(await memoryAdd({ settings: await settings(), text, session, output }));
    });
}
