import { lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { Refusal, refusalOf, shown } from '../refusal.ts';
import type { Tool } from '../tool.ts';
import type { Place } from '../workspace/workspace.ts';
import { atomicWrite } from './atomic-write.ts';
import type { EffectDeps } from './effect-tools.ts';
import { type ExistingFile, existingFile } from './existing-file.ts';

const input = z.object({
  path: z.string().min(1).describe('Path from the workspace root; missing folders are made.'),
  content: z.string().describe('The whole new content.'),
  overwrite: z.boolean().optional().describe('Replace a file that was not read before. Default false.'),
});

/** The tool `write_file`: makes a file, or replaces one that the session has read. */
export function createWriteFile({ workspace, policy, marks }: EffectDeps): Tool {
  return defineTool({
    name: 'write_file',
    description: 'Writes a whole text file, all or nothing. Use edit_file to change a part of one.',
    input,
    // Writing the same again changes nothing more: a repeated call finds the content it wanted and stops.
    annotations: {
      title: 'Write file',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    resultSemantic: 'action',
    exclusive: true,
    label: ({ path: given, content }) => `write_file ${given} (${content.length} characters)`,
    execute: async ({ path: given, content, overwrite = false }, { sessionId }) => {
      const place = await placeFor(given);
      const bytes = Buffer.from(content, 'utf8');
      const existing = await present(place);
      if (existing?.bytes.equals(bytes)) {
        await marks.remember(sessionId, place.real, existing.version);
        return `${shown(place.relative)} already has this content.`;
      }
      if (existing !== undefined) requireSeen(place, existing, await marks.recall(sessionId, place.real), overwrite);
      const version = await atomicWrite(workspace, place, bytes, {
        version: existing?.version,
        ...(existing === undefined ? {} : { mode: existing.mode, owner: existing.owner }),
      });
      await marks.remember(sessionId, place.real, version);
      return `${existing === undefined ? 'Made' : 'Replaced'} ${shown(place.relative)} (${bytes.length} bytes).`;
    },
  });

  async function placeFor(given: string): Promise<Place> {
    const found = await workspace
      .locate(given)
      .catch((error) => (isMissing(error) ? undefined : Promise.reject(error)));
    const place = found ?? (await withFolders(given));
    await policy.requireReadable(place, false);
    const link = found === undefined && (await lstat(place.real).catch(() => undefined))?.isSymbolicLink();
    if (link === true) throw new Refusal(`${shown(given)}: this is a symbolic link that leads nowhere.`);
    return place;
  }

  /** Makes missing folders one by one, each checked before something is made in it. */
  async function withFolders(given: string): Promise<Place> {
    const parents = ancestors(path.isAbsolute(given) ? path.relative(workspace.root, path.resolve(given)) : given);
    for (const parent of parents) {
      const known = await workspace
        .locate(parent)
        .catch((error) => (isMissing(error) ? undefined : Promise.reject(error)));
      if (known !== undefined) continue;
      const place = await workspace.locateNew(parent);
      await policy.requireReadable(place, true);
      await mkdir(place.real).catch((error) => Promise.reject(refusalOf(error, parent)));
    }
    return workspace.locateNew(given);
  }

  async function present(place: Place): Promise<ExistingFile | undefined> {
    const found = await workspace
      .locate(place.relative)
      .catch((error) => (isMissing(error) ? undefined : Promise.reject(error)));
    return found === undefined ? undefined : existingFile(workspace, found);
  }
}

function isMissing(error: unknown): boolean {
  const cause = error instanceof Refusal ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

function ancestors(given: string): readonly string[] {
  const parts = path.posix.normalize(given).split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/')).filter((parent) => parent !== '' && parent !== '.');
}

function requireSeen(place: Place, { version }: ExistingFile, seen: string | undefined, overwrite: boolean): void {
  if (seen === version || (seen === undefined && overwrite)) return;
  throw new Refusal(
    seen === undefined
      ? `${shown(place.relative)}: this file exists and was not read; read it first, or set overwrite to replace it unseen.`
      : `${shown(place.relative)}: this file changed since it was read; nothing was written. Read it again.`,
  );
}
