import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './bootstrap.mjs';

/** Goes on as the CLI, in this process: standard streams, terminal and signals are the CLI's own. */
export async function enterCli(args) {
  const main = join(ROOT, 'dist', 'src', 'cli', 'main.js');
  process.argv = [process.execPath, main, ...args];
  await import(pathToFileURL(main).href);
}
