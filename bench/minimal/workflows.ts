import { proxyActivities } from '@temporalio/workflow';
import type { MinimalActivities } from './activities.ts';

const { model, tool } = proxyActivities<MinimalActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 2 },
});

/** The yardstick: the least that a durable agent loop on Temporal can do. The conversation stands in SQLite; the workflow passes ids. */
export async function minimalLoop(url: string, name: string, run: string): Promise<string> {
  for (let seq = 1; ; seq++) {
    const answer = await model(url, name, run, seq);
    if (answer.n === 0) return answer.text ?? '';
    await Promise.all(Array.from({ length: answer.n }, (_, index) => tool(run, seq, index)));
  }
}
