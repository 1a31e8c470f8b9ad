// `npm run cases -- [FILE.jsonl …]`: runs the collected cases through the real code.
import './node-version.mjs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileAll, ROOT } from './bootstrap.mjs';

compileAll();
await import(pathToFileURL(join(ROOT, 'dist', 'test', 'cases', 'main.js')).href);
