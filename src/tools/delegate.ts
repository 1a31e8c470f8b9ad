import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** An agent that tasks can be given to, as the one that gives them is told of it. */
export interface Delegate {
  readonly name: string;
  readonly description?: string;
}

/** How deep subagents may stand below the run that a person started. */
export const MAX_DELEGATION_DEPTH = 3;

/** How many subagents deep a session is: its id is `<parent>/sub/<callId>`. 0 for a session of a person. */
export function delegationDepth(sessionId: string): number {
  return sessionId.split('/sub/').length - 1;
}

const made = new WeakSet<Tool>();

/** Whether the tool was made by {@link createDelegate}; another one may bear the same name. */
export function isDelegate(tool: Tool): boolean {
  return made.has(tool);
}

/**
 * The tool `delegate` for an agent that may give tasks to `delegates` (at least one). The task runs as a run of its own
 * and its answer is committed as the result; so the tool itself is executed only where that cannot be, to say why.
 *
 * Read-only by annotation: the tools of the other agent ask for themselves.
 */
export function createDelegate(delegates: readonly [Delegate, ...Delegate[]]): Tool {
  const [first, ...others] = delegates.map(({ name }) => name);
  const input = z.object({
    agent: z.enum([first ?? '', ...others]).describe('Who gets the task.'),
    task: z
      .string()
      .regex(/\S/, 'expected the task in words')
      .describe('The task, complete in itself: the other agent sees nothing of this conversation.'),
  });
  const tool = defineTool({
    name: 'delegate',
    description: `Gives a task to another agent, which works on it with tools of its own and answers once. Several tasks that do not depend on each other go in one response. The agents:\n${delegates.map(line).join('\n')}`,
    input,
    annotations: { title: 'Delegate', readOnlyHint: true },
    resultSemantic: 'factual',
    label: ({ agent, task }) => `delegate ${agent}: ${task}`,
    execute: (_, { sessionId }) => {
      throw new Error(
        delegationDepth(sessionId) >= MAX_DELEGATION_DEPTH
          ? `Tasks may be passed on ${MAX_DELEGATION_DEPTH} times at most, and this one was. Do it yourself with the tools you have.`
          : 'The task was given to nobody: the configuration has changed. Make the call again.',
      );
    },
  });
  made.add(tool);
  return tool;
}

function line({ name, description = '' }: Delegate): string {
  return description === '' ? `- ${name}` : `- ${name}: ${description}`;
}
