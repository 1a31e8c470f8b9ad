import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { Refusal, shown } from '../refusal.ts';
import type { Reconciled, Tool } from '../tool.ts';
import { atomicWrite } from './atomic-write.ts';
import type { EffectDeps } from './effect-tools.ts';
import { existingFile } from './existing-file.ts';

const input = z.object({
  path: z.string().min(1).describe('Path from the workspace root.'),
  oldText: z.string().min(1).describe('The exact text to replace, with its indentation; it must occur once.'),
  newText: z.string().describe('What stands there instead.'),
  replaceAll: z.boolean().optional().describe('Replace every occurrence. Default false.'),
});
type Edit = z.output<typeof input>;

/** The tool `edit_file`: replaces an exact text. Mode, line ends and byte order mark of the file stay. */
export function createEditFile({ workspace, policy, marks }: EffectDeps): Tool {
  return defineTool({
    name: 'edit_file',
    description:
      'Replaces an exact text in a file, all or nothing. Refuses when the text does not occur, occurs more than once, or the file changed since it was read.',
    input,
    annotations: {
      title: 'Edit file',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
    resultSemantic: 'action',
    exclusive: true,
    label: ({ path }) => `edit_file ${path}`,
    execute: async (edit, { sessionId }) => {
      const place = await workspace.locate(edit.path);
      await policy.requireReadable(place, false);
      const file = await existingFile(workspace, place);
      const seen = await marks.recall(sessionId, place.real);
      if (seen !== undefined && seen !== file.version) {
        throw new Refusal(
          `${shown(place.relative)}: this file changed since it was read; nothing was written. Read it again.`,
        );
      }
      const { text, lines } = edited(decoded(file.bytes, place.relative), edit);
      const version = await atomicWrite(workspace, place, Buffer.from(text, 'utf8'), file);
      await marks.remember(sessionId, place.real, version);
      const times =
        lines.length === 1
          ? `at line ${lines[0]}`
          : `in ${lines.length} places (lines ${lines.slice(0, 10).join(', ')})`;
      return `Edited ${shown(place.relative)} ${times}.`;
    },
    reconcile: async (edit): Promise<Reconciled> => {
      try {
        const place = await workspace.locate(edit.path);
        return whatHappened(decoded((await existingFile(workspace, place)).bytes, place.relative), edit);
      } catch (error) {
        if (error instanceof Refusal) return { outcome: 'unknown' };
        throw error;
      }
    },
  });
}

/** Text of a file byte for byte: a byte order mark stays in it as U+FEFF. */
function decoded(bytes: Uint8Array, name: string): string {
  try {
    if (bytes.includes(0)) throw new TypeError('a NUL');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Refusal(`${shown(name)}: this is no UTF-8 text and cannot be edited.`, { cause: error });
  }
}

/** Both texts as they would stand in a file with these line ends: models write `\n` whatever the file has. */
function fitted(text: string, { oldText, newText }: Edit): { readonly from: string; readonly to: string } {
  const asFile = (part: string): string => part.replace(/\r?\n/g, '\r\n');
  if (!text.includes(oldText) && text.includes(asFile(oldText))) return { from: asFile(oldText), to: asFile(newText) };
  const crlf = text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
  return { from: oldText, to: crlf ? asFile(newText) : newText };
}

function edited(text: string, edit: Edit): { readonly text: string; readonly lines: readonly number[] } {
  const { from, to } = fitted(text, edit);
  const at = occurrences(text, from);
  if (at.length === 0)
    throw new Refusal(
      `${shown(edit.path)}: oldText does not occur. It must match exactly, with white space; read the file again.`,
    );
  if (from === to) throw new Refusal('newText is the same as oldText; there is nothing to change.');
  const lines = at.map((index) => lineOf(text, index));
  if (at.length > 1 && edit.replaceAll !== true) {
    throw new Refusal(
      `${shown(edit.path)}: oldText occurs ${at.length} times (lines ${lines.slice(0, 10).join(', ')}); give more of what stands around it, or set replaceAll.`,
    );
  }
  return { text: text.split(from).join(to), lines };
}

function occurrences(text: string, part: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Whether the edit of a worker that died was made, as far as the file shows it. */
function whatHappened(text: string, edit: Edit): Reconciled {
  const { from, to } = fitted(text, edit);
  const old = text.includes(from);
  const fresh = to !== '' && text.includes(to);
  if (to.includes(from)) return { outcome: old && !fresh ? 'not_done' : 'unknown' };
  if (old && !fresh) return { outcome: 'not_done' };
  return fresh && !old
    ? { outcome: 'done', output: `Edited ${shown(edit.path)} (found done).` }
    : { outcome: 'unknown' };
}
