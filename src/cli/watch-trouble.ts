import type { Client } from '@temporalio/client';
import { visibleLine } from './render/visible.ts';
import { troubleOf } from './trouble.ts';

const EVERY_MS = 5000;

/** Tells once of each thing that keeps failing in a run, while somebody looks at it. Ends with the returned function. */
export function watchTrouble(client: Client, workflowId: string, tell: (line: string) => void): () => void {
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    for (const { what, attempt, why } of await troubleOf(client, workflowId)) {
      const key = `${what} ${why}`;
      if (told.has(key)) continue;
      told.add(key);
      tell(visibleLine(`${what} is at attempt ${attempt}: ${why}`, 300));
    }
  };
  // A server that does not answer now is no news: the run waits for it, too.
  const timer = setInterval(() => void look().catch(() => {}), EVERY_MS);
  return () => clearInterval(timer);
}
