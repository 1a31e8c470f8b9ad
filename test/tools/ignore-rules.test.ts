import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileList } from '../../src/tools/workspace/file-list.ts';
import { createWorkspace } from '../../src/tools/workspace/workspace.ts';

/** Few runs by default: each starts git twice and writes a tree. */
const RUNS = Math.ceil(Number(process.env.HOLDFAST_FC_RUNS ?? 1000) / 80);

const segment = fc.constantFrom('a', 'b', 'ab', 'a.log', 'b.ts');
const rule = fc
  .tuple(
    fc.constantFrom('', '!'),
    fc.constantFrom('', '/', '**/', 'a/', 'a/**/'),
    fc.constantFrom('a', 'b', 'ab', '*.log', 'a*', '?', '[ab].ts', '\\a', '*'),
    fc.constantFrom('', '/', '/**'),
  )
  .map((parts) => parts.join(''));
const rules = fc.array(fc.oneof(rule, fc.constantFrom('', '# a', 'b.ts ')), { minLength: 1, maxLength: 4 });
const tree = fc.record({
  files: fc.uniqueArray(
    fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => [...parts, 'f.ts'].join('/')),
    { minLength: 1, maxLength: 8 },
  ),
  ignores: fc.dictionary(fc.constantFrom('.', 'a', 'a/a', 'b'), rules, { minKeys: 1, maxKeys: 3 }),
});

function gitListing(root: string): readonly string[] {
  const options = {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
  } as const;
  execFileSync('git', ['init', '-q'], options);
  const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard', '-z'], options);
  return listed
    .split('\0')
    .filter((name) => name !== '')
    .sort();
}

test('the files that tools see are those that git sees', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async ({ files, ignores }) => {
      const root = mkdtempSync(path.join(tmpdir(), 'holdfast-ignore-'));
      try {
        for (const file of files) {
          mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
          writeFileSync(path.join(root, file), 'x');
        }
        for (const [folder, lines] of Object.entries(ignores)) {
          mkdirSync(path.join(root, folder), { recursive: true });
          writeFileSync(path.join(root, folder, '.gitignore'), `${lines.join('\n')}\n`);
        }
        const seen = await fileList(createWorkspace(root), '**', new AbortController().signal);
        expect(seen).toEqual(gitListing(root));
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    }),
    { numRuns: RUNS },
  );
});
