import { Context } from '@temporalio/activity';
import type { CallToolInput } from '../contract/activities.ts';
import type { Store } from '../store/store.ts';
import { runTool } from '../tools/invoke.ts';
import type { Tool, ToolOutputBlock } from '../tools/tool.ts';
import type { ContentBlock, ToolCall, ToolResult } from '../transcript/items.ts';
import { truncateOutput } from '../transcript/truncate.ts';

export interface Execution {
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly input: CallToolInput;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Tokens that the output may take in a request. */
  readonly outputTokens: number;
  readonly note: (text: string) => void;
  readonly workspace: string;
  readonly store: Store;
}

/** A result as the model is shown it, and the whole output where that is longer. */
export interface Executed {
  readonly result: ToolResult;
  readonly fullOutput?: string;
}

/** Runs the tool and makes its output fit for a transcript: media go to the store, long text is cut in the middle. */
export async function execute(execution: Execution): Promise<Executed> {
  const { tool, call, input, signal, timeoutMs, note, workspace, store } = execution;
  const { status, blocks } = await runTool(
    tool,
    call.arguments,
    {
      sessionId: input.ref.sessionId,
      runId: input.ref.runId,
      callId: call.callId,
      idempotencyKey: call.callId,
      attempt: Context.current().info.attempt,
      signal,
      workspace,
      progress: note,
    },
    { timeoutMs },
  );
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const cut = truncateOutput(text, {
    maxTokens: execution.outputTokens,
    callId: call.callId,
  });
  const content = cut.cut
    ? [{ type: 'text', text: cut.text } as const]
    : await stored(
        store,
        blocks.filter((block) => block.type === 'text'),
      );
  const media = await stored(
    store,
    blocks.filter((block) => block.type !== 'text'),
  );
  return {
    result: {
      callId: call.callId,
      status,
      content: [...content, ...media],
      ...(cut.cut ? { fullOutput: { bytes: cut.bytes, lines: cut.lines } } : {}),
    },
    ...(cut.cut ? { fullOutput: text } : {}),
  };
}

async function stored(store: Store, blocks: readonly ToolOutputBlock[]): Promise<ContentBlock[]> {
  const result: ContentBlock[] = [];
  for (const block of blocks) {
    if (!('base64' in block)) {
      result.push(block);
      continue;
    }
    const media = await store.putBlob(Buffer.from(block.base64, 'base64'), block.mediaType, block.name);
    result.push({ type: block.type, media });
  }
  return result;
}
