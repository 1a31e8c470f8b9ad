// Imported first: leaves with one clear sentence where the rest could not even run.
// biome-ignore lint/style/useNodejsImportProtocol: releases too old for us do not know the protocol.
import { readFileSync } from 'fs';

const wanted = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node.replace(
  '>=',
  '',
);
const [major, minor] = process.versions.node.split('.').map(Number);
const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);

if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  console.error(
    `holdfast needs Node ${wanted} or later; this is ${process.version}. Get a newer one from https://nodejs.org.`,
  );
  process.exit(3);
}
