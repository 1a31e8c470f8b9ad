import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows, table } from '../output.ts';
import { visibleLine } from '../render/visible.ts';
import { type Settings, storeExists } from '../settings.ts';
import { withStore } from '../with-client.ts';

export interface SessionsOptions {
  readonly limit: number;
  /** Subagents' sessions too. */
  readonly all: boolean;
  readonly output: Output | undefined;
}

/** Lists the folder's sessions, newest first. Needs no server. */
export async function sessions(settings: Settings, { limit, all, output }: SessionsOptions): Promise<ExitCode> {
  const page = all ? { limit } : { limit, top: true as const };
  const rows = storeExists(settings) ? await withStore(settings, (store) => store.sessions(page)) : [];
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
