import { EXIT, type ExitCode } from '../exit-codes.ts';
import { untilAborted, withCleanup } from '../interruptible.ts';
import { narrator } from '../narrate.ts';
import type { Settings } from '../settings.ts';
import { leaseTemporal } from '../temporal-access.ts';
import { startWorkerChild } from '../worker-child.ts';

/** A dev server and a worker for the folder, until Ctrl-C. Other commands in the folder find and use both. */
export function dev(settings: Settings): Promise<ExitCode> {
  return withCleanup(async (cleanup, interrupted) => {
    const { access, release, releaseNow } = await leaseTemporal(settings, narrator(), true);
    cleanup.add(release, releaseNow);
    const worker = startWorkerChild({ ...settings, env: access.workerEnv });
    cleanup.add(worker.stop, worker.killNow);
    await worker.ready;
    process.stdout.write(
      `Worker for ${settings.folder} polls ${access.address}, log ${worker.logFile}\n` +
        `Temporal Web UI ${access.uiUrl ?? '(of your server)'} · Ctrl-C stops both\n`,
    );
    const code = await Promise.race([untilAborted(interrupted), worker.ended]);
    if (interrupted.aborted) return EXIT.ok;
    process.stderr.write(`Error: the worker ended (code ${code}).\nIts log is ${worker.logFile}.\n`);
    return EXIT.unavailable;
  });
}
