import { EXIT, type ExitCode } from '../exit-codes.ts';
import { withCleanup } from '../interruptible.ts';
import type { Settings } from '../settings.ts';
import { findTemporal } from '../temporal-access.ts';
import { startWorkerChild } from '../worker-child.ts';

/** A worker for the folder against any server, until Ctrl-C or SIGTERM. */
export function worker(settings: Settings): Promise<ExitCode> {
  return withCleanup(async (cleanup, interrupted) => {
    const access = await findTemporal(settings);
    if (interrupted.aborted) return EXIT.ok;
    const child = startWorkerChild({ ...settings, env: access.workerEnv });
    cleanup.add(child.stop, child.killNow);
    interrupted.addEventListener('abort', () => void child.stop(), { once: true });
    try {
      await child.ready;
      process.stdout.write(`Worker for ${settings.folder} polls ${access.address}, log ${child.logFile}\n`);
      const code = await child.ended;
      if (interrupted.aborted) return EXIT.ok;
      process.stderr.write(`Error: the worker ended (code ${code}).\nIts log is ${child.logFile}.\n`);
      return EXIT.unavailable;
    } catch (error) {
      if (interrupted.aborted) return EXIT.ok;
      throw error;
    }
  });
}
