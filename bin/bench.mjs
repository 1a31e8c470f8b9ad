// `npm run bench -- [--json] [NAME …]`: measures, and prints one figure a line. A name picks files of bench/ or figures.
import './node-version.mjs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileAll, fail, ROOT } from './bootstrap.mjs';

const args = process.argv.slice(2);
const json = args.includes('--json');
const wanted = args.filter((arg) => arg !== '--json');

compileAll();
process.chdir(ROOT);
const folder = join(ROOT, 'dist', 'bench');
const files = readdirSync(folder).filter((name) => name.endsWith('.bench.js'));
const named = files.filter((name) => wanted.includes(name.replace('.bench.js', '')));
let rows = 0;
for (const file of named.length > 0 ? named : files) {
  const { run } = await import(pathToFileURL(join(folder, file)).href);
  for await (const row of run()) {
    if (named.length === 0 && wanted.length > 0 && !wanted.includes(row.name)) continue;
    console.log(json ? JSON.stringify(row) : lineOf(row));
    rows += 1;
  }
}
if (rows === 0) fail(`Nothing here is called ${wanted.join(' or ')}.`);
process.exit();

function lineOf({ name, value, unit, n, min, max }) {
  return `${name.padEnd(36)} ${String(value).padStart(10)} ${unit}${n > 1 ? `  (${n}: ${min} to ${max})` : ''}`;
}
