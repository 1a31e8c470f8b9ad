import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Environment, homeOf, TEMPORAL } from './locations.ts';
import type { Narrator } from './narrator.ts';

/** The last release of the CLI that `go install` takes: later ones have a `replace` in their go.mod. */
const CLI_VERSION = '1.5.1';
const TICK_MS = 5_000;

export interface GoInstallOptions extends Narrator {
  readonly env: Environment;
  /** Folder that gets the program. */
  readonly into: string;
}

/** Builds the Temporal CLI with Go: two to three minutes when nothing is cached. Rejects with Go's last words. */
export async function goInstallTemporal({ env, into, progress }: GoInstallOptions): Promise<string> {
  await mkdir(into, { recursive: true });
  const started = Date.now();
  let modules = 0;
  let last = '';
  const tell = (): void =>
    progress(
      `Building the Temporal CLI with Go: ${Math.round((Date.now() - started) / 1000)} s, ${modules} modules fetched`,
    );
  const timer = setInterval(tell, TICK_MS);
  try {
    const child = spawn(
      'go',
      [
        'install',
        '-ldflags',
        `-s -w -X github.com/temporalio/cli/temporalcli.Version=${CLI_VERSION}`,
        `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`,
      ],
      { env: { ...env, HOME: homeOf(env), GOBIN: into }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.startsWith('go: downloading')) {
        modules += 1;
        tell();
      } else if (line.trim() !== '') last = line.trim();
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`go install ended with code ${code}: ${last}`);
    return join(into, TEMPORAL);
  } finally {
    clearInterval(timer);
  }
}
