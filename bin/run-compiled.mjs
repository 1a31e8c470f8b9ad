import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, commandFile, fail, ROOT, runNode } from './bootstrap.mjs';

/** Makes the checkout ready, compiles the tests too, and goes on as the program compiled from `source`. */
export async function runCompiled(source) {
  bootstrap();
  // Errors in tests that this program does not use must not stop it: tsc writes what it can.
  runNode([commandFile('typescript', 'tsc'), '-b'], { stdio: 'ignore' });
  const compiled = join(ROOT, 'dist', source.replace(/\.ts$/, '.js'));
  if (!existsSync(compiled)) fail(`${source} is not there or does not compile; \`npm test\` tells why.`);
  process.chdir(ROOT);
  process.argv = [process.execPath, compiled, ...process.argv.slice(2)];
  await import(pathToFileURL(compiled).href);
}
