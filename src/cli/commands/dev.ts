import { Cleanup } from '../cleanup.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { onInterrupt } from '../interrupts.ts';
import { narrator } from '../narrate.ts';
import type { Settings } from '../settings.ts';
import { leaseTemporal } from '../temporal-access.ts';
import { startWorkerChild } from '../worker-child.ts';

/** A dev server and a worker for the folder, until Ctrl-C. Other commands in the folder find and use both. */
export async function dev(settings: Settings): Promise<ExitCode> {
  const cleanup = new Cleanup();
  const interrupted = new AbortController();
  const stopListening = onInterrupt({
    ask: () => interrupted.abort(),
    force: () => {
      cleanup.now();
      process.exit(EXIT.cancelled);
    },
  });
  try {
    const { access, release, releaseNow } = await leaseTemporal(settings, narrator(), true);
    cleanup.add(release, releaseNow);
    const worker = startWorkerChild({ ...settings, env: access.workerEnv });
    cleanup.add(worker.stop, worker.killNow);
    await worker.ready;
    process.stdout.write(
      `Worker for ${settings.folder} polls ${access.address}, log ${worker.logFile}\n` +
        `Temporal Web UI ${access.uiUrl ?? '(of your server)'} · Ctrl-C stops both\n`,
    );
    const asked = new Promise<undefined>((resolve) => {
      interrupted.signal.addEventListener('abort', () => resolve(undefined), { once: true });
      if (interrupted.signal.aborted) resolve(undefined);
    });
    const code = await Promise.race([asked, worker.ended]);
    if (interrupted.signal.aborted) return EXIT.ok;
    process.stderr.write(`Error: the worker ended (code ${code}).\nIts log is ${worker.logFile}.\n`);
    return EXIT.unavailable;
  } finally {
    await cleanup.all();
    stopListening();
  }
}
