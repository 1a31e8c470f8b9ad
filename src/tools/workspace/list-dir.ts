import type { Dirent } from 'node:fs';
import { lstat } from 'node:fs/promises';
import nodePath from 'node:path';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { createIgnoreRules, type IgnoreRules } from './ignore-rules.ts';
import type { ReadPolicy } from './read-policy.ts';
import { count, oneLine } from './search-text.ts';
import type { Place, Workspace } from './workspace.ts';

const MAX_ENTRIES = 1000;

const input = z.object({ path: z.string().optional().describe('Folder, from the workspace root. Default: the root.') });

/** The tool `list_dir`: names in a folder, folders with a trailing slash, files with their size. */
export function createListDir(workspace: Workspace, policy: ReadPolicy): Tool {
  return defineTool({
    name: 'list_dir',
    description:
      'Lists a folder of the workspace: one entry a line, folders end in `/`, files have their size in bytes after a tab. Hides what .gitignore excludes.',
    input,
    annotations: { title: 'List folder', readOnlyHint: true, openWorldHint: false },
    quick: true,
    resultSemantic: 'factual',
    label: ({ path = '.' }) => `list_dir ${path}`,
    execute: async ({ path = '.' }) => {
      const place = await workspace.locate(path);
      await policy.requireReadable(place, true);
      const entries = await workspace.entries(place);
      const visible = await withoutExcluded(entries, place, createIgnoreRules(workspace.root));
      const rows = await Promise.all(visible.slice(0, MAX_ENTRIES).map((entry) => row(place, entry)));
      const hidden = entries.length - visible.length;
      return [
        ...(rows.length === 0 ? ['(empty)'] : rows),
        ...(visible.length > rows.length ? [`[${visible.length - rows.length} more entries; use find_files]`] : []),
        ...(hidden > 0 ? [`[${count(hidden, 'excluded entry', 'excluded entries')} not shown]`] : []),
      ].join('\n');
    },
  });
}

async function withoutExcluded(
  entries: readonly Dirent[],
  { realRelative }: Place,
  rules: IgnoreRules,
): Promise<readonly Dirent[]> {
  const prefix = realRelative === '.' ? '' : `${realRelative}/`;
  const verdicts = await Promise.all(entries.map((entry) => rules.excludes(prefix + entry.name, entry.isDirectory())));
  return entries.filter((_, i) => verdicts[i] === false);
}

async function row(place: Place, entry: Dirent): Promise<string> {
  const name = oneLine(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  if (entry.isSymbolicLink()) return `${name}\tlink`;
  if (!entry.isFile()) return `${name}\tspecial`;
  const info = await lstat(nodePath.join(place.real, entry.name)).catch(() => undefined);
  return info === undefined ? name : `${name}\t${info.size}`;
}
