import type { Tool } from '../tool.ts';
import { createFindFiles } from './find-files.ts';
import { createListDir } from './list-dir.ts';
import { createReadFile } from './read-file.ts';
import type { ReadMarks } from './read-marks.ts';
import { createReadPolicy } from './read-policy.ts';
import { createSearchText } from './search-text.ts';
import { createWorkspace } from './workspace.ts';

export interface WorkspaceToolsOptions {
  /** Lets `read_file` and `list_dir` show paths that `.gitignore` excludes when they are named outright. Default false. */
  readonly readIgnored?: boolean;
  /** Where `read_file` notes what was seen, for the tools that edit. Absent: nothing is noted. */
  readonly marks?: ReadMarks;
}

/**
 * The read-only tools on the folder `root`: `list_dir`, `find_files`, `search_text`, `read_file`.
 *
 * @throws Refusal when `root` is no folder.
 */
export function createWorkspaceTools(root: string, options: WorkspaceToolsOptions = {}): readonly Tool[] {
  const workspace = createWorkspace(root);
  const policy = createReadPolicy(workspace, options.readIgnored ?? false);
  return [
    createListDir(workspace, policy),
    createFindFiles(workspace),
    createSearchText(workspace),
    createReadFile(workspace, policy, options.marks),
  ];
}
