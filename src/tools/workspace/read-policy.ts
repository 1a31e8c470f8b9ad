import { Refusal, shown } from '../refusal.ts';
import { createIgnoreRules } from './ignore-rules.ts';
import type { Place, Workspace } from './workspace.ts';

/** Whether a path that was named outright may be read, though `.gitignore` excludes it: such files often hold secrets. */
export interface ReadPolicy {
  /** @throws Refusal */
  requireReadable(place: Place, isDirectory: boolean): Promise<void>;
}

/** Refuses what is excluded, by the name given and by what it resolves to; with `readIgnored` everything may be read. */
export function createReadPolicy(workspace: Workspace, readIgnored: boolean): ReadPolicy {
  return {
    requireReadable: async (place, isDirectory) => {
      if (readIgnored) return;
      const rules = createIgnoreRules(workspace.root);
      for (const relative of new Set([place.relative, place.realRelative])) {
        if (await rules.excludes(relative, isDirectory)) {
          throw new Refusal(
            `${shown(place.relative)}: this path is excluded (.gitignore, or one of .git, node_modules, .holdfast) and is not read.`,
          );
        }
      }
    },
  };
}
