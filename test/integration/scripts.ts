import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';

/** Number of tool results since the last user message: which turn of the script the request is in. */
export function turnOf(request: SeenRequest): number {
  const messages: { role: string }[] = request.body.messages;
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return messages.slice(lastUser).filter((message) => message.role === 'assistant').length;
}

export function lastUserText(request: SeenRequest): string {
  const messages: { role: string; content: string | { text: string }[] }[] = request.body.messages;
  const content = messages.findLast((message) => message.role === 'user')?.content ?? '';
  return typeof content === 'string' ? content : content.map((block) => block.text).join('');
}

/** Asks for `work` in `turns` steps, then says `done: <last user text>`. */
export function worksThenAnswers(turns: number, args: object = {}, parallel = 1): (request: SeenRequest) => FakeAnswer {
  return (request) => {
    const turn = turnOf(request);
    if (turn >= turns) return { text: ['done: ', lastUserText(request)] };
    return {
      text: `turn ${turn}`,
      calls: Array.from({ length: parallel }, (_, n) => ({ name: 'work', args: { n, ...args } })),
    };
  };
}

/** A read-only tool that returns `bytes` letters after `sleepMs`. Scripts may ask for the same again and again. */
export const workTool: Tool = defineTool({
  name: 'work',
  description: 'Does a piece of work.',
  input: z.object({ n: z.number(), bytes: z.number().optional(), sleepMs: z.number().optional() }),
  annotations: { readOnlyHint: true },
  pollable: true,
  execute: async ({ n, bytes = 20, sleepMs = 0 }, { signal }) => {
    if (sleepMs > 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, sleepMs);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      });
    }
    return `result ${n} `.padEnd(bytes, 'x');
  },
});
