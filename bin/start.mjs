// `npm start -- "question"`: makes the checkout ready, then `holdfast run "question"` on the folder npm was called in.
import './node-version.mjs';
import { relative } from 'node:path';
import { bootstrap, ROOT } from './bootstrap.mjs';
import { enterCli } from './enter-cli.mjs';

bootstrap();
// npm changes into the checkout; who calls it from elsewhere (npm --prefix) means that folder.
const calledFrom = process.env.INIT_CWD;
if (calledFrom !== undefined && relative(ROOT, calledFrom).startsWith('..')) process.chdir(calledFrom);
await enterCli(['run', ...process.argv.slice(2)]);
