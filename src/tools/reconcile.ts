import type { JsonObject } from '../transcript/json.ts';
import { outputOf } from './output.ts';
import type { Output } from './output-block.ts';
import { thrownText } from './thrown-text.ts';
import type { Tool, ToolContext } from './tool.ts';

/** What is known of a call whose attempt was lost. `detail`: why nothing is. */
export type Known =
  | { readonly outcome: 'done'; readonly output: Output }
  | { readonly outcome: 'not_done' }
  | { readonly outcome: 'unknown'; readonly detail?: string };

/** Asks the tool what became of a call. Always resolves: a tool that throws or takes too long knows nothing. */
export async function reconcileTool(
  tool: Tool,
  args: JsonObject,
  context: ToolContext,
  timeoutMs: number,
): Promise<Known> {
  if (tool.reconcile === undefined) return { outcome: 'unknown' };
  const clock = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, clock]);
  const stopped = new Promise<Known>((resolve) => {
    const stop = (): void =>
      resolve({ outcome: 'unknown', detail: `It could not be found out: ${thrownText(signal.reason)}` });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([asked(tool, args, { ...context, signal }), stopped]);
}

async function asked(tool: Tool, args: JsonObject, context: ToolContext): Promise<Known> {
  try {
    const parsed = tool.parse(args);
    if (!parsed.ok) return { outcome: 'not_done' };
    const answer = await tool.reconcile?.(parsed.value, context);
    if (answer?.outcome === 'done') return { outcome: 'done', output: await outputOf(answer.output) };
    return { outcome: answer?.outcome === 'not_done' ? 'not_done' : 'unknown' };
  } catch (error) {
    return { outcome: 'unknown', detail: `It could not be found out: ${thrownText(error)}` };
  }
}
