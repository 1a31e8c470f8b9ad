import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows, table } from '../output.ts';
import { visibleLine } from '../render/visible.ts';
import { type Settings, storeExists } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** Lists the folder's sessions, newest first. Needs no server. */
export async function sessions(settings: Settings, limit: number, output: Output | undefined): Promise<ExitCode> {
  const rows = storeExists(settings) ? await withStore(settings, (store) => store.sessions({ limit })) : [];
  printRows(output, rows, (found) =>
    found.length === 0
      ? 'No sessions yet. Start one with `holdfast run "question"`.\n'
      : table(
          ['SESSION', 'LAST', 'RUNS', 'UPDATED', 'TITLE'],
          found.map((row) => [
            row.sessionId,
            row.lastStatus ?? '-',
            String(row.runs),
            row.updatedAt.slice(0, 19).replace('T', ' '),
            visibleLine(row.title, 60),
          ]),
        ),
  );
  return EXIT.ok;
}
