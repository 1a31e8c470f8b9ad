import { Cleanup } from '../cleanup.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { onInterrupt } from '../interrupts.ts';
import type { Settings } from '../settings.ts';
import { findTemporal } from '../temporal-access.ts';
import { startWorkerChild } from '../worker-child.ts';

/** A worker for the folder against any server, until Ctrl-C or SIGTERM. */
export async function worker(settings: Settings): Promise<ExitCode> {
  const access = await findTemporal(settings);
  const cleanup = new Cleanup();
  const child = startWorkerChild({ ...settings, env: access.workerEnv });
  cleanup.add(child.stop, child.killNow);
  let interrupted = false;
  const stopListening = onInterrupt({
    ask: () => {
      interrupted = true;
      void child.stop();
    },
    force: () => {
      cleanup.now();
      process.exit(EXIT.cancelled);
    },
  });
  try {
    await child.ready;
    process.stdout.write(`Worker for ${settings.folder} polls ${access.address}, log ${child.logFile}\n`);
    const code = await child.ended;
    if (interrupted) return EXIT.ok;
    process.stderr.write(`Error: the worker ended (code ${code}).\nIts log is ${child.logFile}.\n`);
    return EXIT.unavailable;
  } catch (error) {
    if (interrupted) return EXIT.ok;
    throw error;
  } finally {
    await cleanup.all();
    stopListening();
  }
}
