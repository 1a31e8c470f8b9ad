import type { Tool } from '../tool.ts';
import type { ReadMarks } from '../workspace/read-marks.ts';
import { createReadPolicy, type ReadPolicy } from '../workspace/read-policy.ts';
import { createWorkspace, type Workspace } from '../workspace/workspace.ts';
import { commandEnvironment } from './command-environment.ts';
import { createEditFile } from './edit-file.ts';
import { createRunCommand } from './run-command.ts';
import { createWriteFile } from './write-file.ts';

/** What the tools with effects share. */
export interface EffectDeps {
  readonly workspace: Workspace;
  readonly policy: ReadPolicy;
  readonly marks: ReadMarks;
  /** What commands find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes secrets out of what commands print. */
  readonly redact: (text: string) => string;
}

export interface EffectToolsOptions {
  /** Shared with `createWorkspaceTools`, so that reading a file allows editing it. */
  readonly marks: ReadMarks;
  /** The worker's environment; commands get the part of it that holds no secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes secrets out of what commands print. */
  readonly redact: (text: string) => string;
  /** Lets excluded paths be written too. Default false. */
  readonly readIgnored?: boolean;
}

/**
 * The tools on the folder `root` that change something: `write_file`, `edit_file`, `run_command`.
 *
 * Files are confined to the root. A command starts in it, but is a program of the user's and can go anywhere.
 *
 * @throws Refusal when `root` is no folder.
 */
export function createWorkspaceEffectTools(root: string, options: EffectToolsOptions): readonly Tool[] {
  const workspace = createWorkspace(root);
  const deps: EffectDeps = {
    workspace,
    policy: createReadPolicy(workspace, options.readIgnored ?? false),
    marks: options.marks,
    environment: commandEnvironment(options.env),
    redact: options.redact,
  };
  return [createWriteFile(deps), createEditFile(deps), createRunCommand(deps)];
}
