import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';

const bundle = readFileSync(inject('temporal').bundlePath, 'utf8');

test('the workflow bundle holds workflow code, the contract and nothing of other layers', () => {
  const modules = new Set([...bundle.matchAll(/"\.\/src\/([\w-]+)\/[\w-]+\.ts"/g)].map((match) => match[1]));
  expect([...modules].sort()).toEqual(['contract', 'transcript', 'workflows']);
  const transcript = new Set([...bundle.matchAll(/"\.\/src\/transcript\/([\w-]+)\.ts"/g)].map((match) => match[1]));
  // The events' table of terminal types and the exhaustiveness mark: no logic.
  expect([...transcript].filter((name) => name !== 'assert-never' && name !== 'events')).toEqual([]);
});

test.each(['zod', 'kysely', 'openai', '@anthropic-ai', 'better-sqlite3', 'pino'])(
  'the workflow bundle does not hold %s',
  (name) => {
    expect(bundle).not.toContain(`node_modules/${name}/`);
  },
);
