import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { allEntries, sessionPages } from '../../client/session-pages.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Store } from '../../store/store.ts';
import { type ExportFormat, exportFile } from '../../transcript/interchange/export-file.ts';
import { transcriptHeader, transcriptLines } from '../../transcript/interchange/holdfast-jsonl.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** Writes a session to a file or the standard output; what the format cannot hold is told on the standard error. */
export function exportSession(
  settings: Settings,
  sessionId: string,
  { format, file }: { readonly format: ExportFormat; readonly file: string | undefined },
): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    if ((await store.session(sessionId)) === undefined) {
      throw new HoldfastError('NotFound', `no session is called "${sessionId}"`);
    }
    const text = format === 'holdfast-jsonl' ? ownFormat(store, sessionId) : foreignFormat(store, sessionId, format);
    await pipeline(Readable.from(text), file === undefined ? process.stdout : createWriteStream(file), {
      end: file !== undefined,
    });
    return EXIT.ok;
  });
}

/** Ours is written page by page, so a session of any length takes little memory. */
async function* ownFormat(store: Store, sessionId: string): AsyncGenerator<string> {
  yield transcriptHeader({ sessionId });
  for await (const page of sessionPages(store, sessionId)) yield transcriptLines(page);
}

async function* foreignFormat(store: Store, sessionId: string, format: ExportFormat): AsyncGenerator<string> {
  const entries = await allEntries(store, sessionId);
  const { text, losses } = exportFile(entries, format, { sessionId });
  for (const { detail } of losses) process.stderr.write(`not held by ${format}: ${detail}\n`);
  yield text;
}
