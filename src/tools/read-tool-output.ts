import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { Refusal } from './refusal.ts';
import type { Tool } from './tool.ts';

/** Characters given at once when no end is asked for. */
const DEFAULT_CHARS = 8000;
const MAX_CHARS = 40_000;

/** A range of a call's whole output, in UTF-16 units; `undefined` when nothing is kept under that id. The store's `toolOutput`. */
export type OutputReader = (
  sessionId: string,
  callId: string,
  range: { readonly start: number; readonly end: number },
) => Promise<{ readonly text: string; readonly total: number } | undefined>;

const input = z.object({
  callId: z.string().min(1).describe('Id of the call whose output was cut, as the note in it says.'),
  start: z.number().int().min(0).optional().describe('First character, from 0. Default 0.'),
  end: z.number().int().min(1).optional().describe(`End, not included. Default: ${DEFAULT_CHARS} characters on.`),
});

/** The tool `read_tool_output`: any part of an output that was too long to be shown whole. */
export function createReadToolOutput(read: OutputReader): Tool {
  return defineTool({
    name: 'read_tool_output',
    description: `Reads a part of an earlier tool output that was cut; at most ${MAX_CHARS} characters at once.`,
    input,
    annotations: { title: 'Read tool output', readOnlyHint: true, openWorldHint: false },
    quick: true,
    resultSemantic: 'factual',
    label: ({ callId, start = 0 }) => `read_tool_output ${callId} from ${start}`,
    execute: async ({ callId, start = 0, end = start + DEFAULT_CHARS }, { sessionId }) => {
      if (end <= start) throw new Refusal(`end ${end} must be greater than start ${start}.`);
      const until = Math.min(end, start + MAX_CHARS);
      const part = await read(sessionId, callId, { start, end: until });
      if (part === undefined)
        throw new Refusal(`There is no longer output kept for the call ${JSON.stringify(callId)}.`);
      if (start >= part.total) throw new Refusal(`The output has ${part.total} characters; there is none at ${start}.`);
      const reached = start + part.text.length;
      const more = reached < part.total ? `; read on with start ${reached}` : '';
      return `[characters ${start} to ${reached} of ${part.total}${more}]\n${part.text}`;
    },
  });
}
