// `npm run bench -- [--json] [NAME …]`: measures, and prints one figure a line.
import './node-version.mjs';
import { runCompiled } from './run-compiled.mjs';

await runCompiled('test/bench/main.ts');
