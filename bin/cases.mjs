// `npm run cases -- [FILE.jsonl …]`: runs the collected cases through the real code.
import './node-version.mjs';
import { runCompiled } from './run-compiled.mjs';

await runCompiled('test/cases/main.ts');
