import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { fileList } from './file-list.ts';
import { count, oneLine } from './search-text.ts';
import type { Workspace } from './workspace.ts';

const MAX_FILES = 1000;

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .describe('A glob such as `src/**/*.ts` or `*.{json,yaml}`; without a slash it matches at any depth.'),
});

/** The tool `find_files`: paths that match a glob. */
export function createFindFiles(workspace: Workspace): Tool {
  return defineTool({
    name: 'find_files',
    description: `Finds files of the workspace by a glob: one path a line, sorted, at most ${MAX_FILES}. Hides what .gitignore excludes.`,
    input,
    annotations: { title: 'Find files', readOnlyHint: true, openWorldHint: false },
    resultSemantic: 'factual',
    label: ({ pattern }) => `find_files ${pattern}`,
    execute: async ({ pattern }, { signal }) => {
      const files = await fileList(workspace, pattern, signal);
      if (files.length === 0) return '(no files match)';
      const shown = files.slice(0, MAX_FILES).map(oneLine);
      const rest = files.length - shown.length;
      return [...shown, ...(rest > 0 ? [`[${count(rest, 'more file')}; narrow the pattern]`] : [])].join('\n');
    },
  });
}
