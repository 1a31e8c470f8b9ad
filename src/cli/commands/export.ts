import { writeFileSync } from 'node:fs';
import { HoldfastError } from '../../contract/errors.ts';
import { type ExportFormat, exportFile } from '../../transcript/interchange/export-file.ts';
import type { TranscriptEntry } from '../../transcript/items.ts';
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
    const entries: TranscriptEntry[] = [];
    for (;;) {
      const page = await store.entries(sessionId, { afterSeq: entries.at(-1)?.seq ?? 0, limit: 1000 });
      if (page.length === 0) break;
      entries.push(...page);
    }
    const { text, losses } = exportFile(entries, format, { sessionId });
    if (file === undefined) process.stdout.write(text);
    else writeFileSync(file, text);
    for (const { detail } of losses) process.stderr.write(`not held by ${format}: ${detail}\n`);
    return EXIT.ok;
  });
}
