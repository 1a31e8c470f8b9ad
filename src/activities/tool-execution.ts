import { Context } from '@temporalio/activity';
import type { CallToolInput } from '../contract/activities.ts';
import type { Store } from '../store/store.ts';
import { runTool } from '../tools/invoke.ts';
import type { Tool, ToolContext, ToolOutputBlock } from '../tools/tool.ts';
import type { ContentBlock, ToolCall, ToolResult, ToolResultStatus } from '../transcript/items.ts';
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
  /** Takes the worker's secrets out of what the tool gives. */
  readonly redact: (text: string) => string;
  readonly store: Store;
}

/** A result as the model is shown it, and the whole output where that is longer. */
export interface Executed {
  readonly result: ToolResult;
  readonly fullOutput?: string;
}

/** Runs the tool and makes its output fit for a transcript. */
export async function execute(execution: Execution): Promise<Executed> {
  const { tool, call, timeoutMs } = execution;
  const { status, blocks } = await runTool(tool, call.arguments, contextOf(execution), { timeoutMs });
  return fitted(execution, status, blocks);
}

/** What a tool may use while it runs, and while it finds out what became of an attempt that was lost. */
export function contextOf({ call, input, signal, workspace, note, redact }: Execution): ToolContext {
  return {
    sessionId: input.ref.sessionId,
    runId: input.ref.runId,
    callId: call.callId,
    idempotencyKey: call.callId,
    attempt: Context.current().info.attempt,
    signal,
    workspace,
    progress: (text) => note(redact(text)),
  };
}

/** Output as a transcript takes it: media go to the store, long text is cut in the middle. */
export async function fitted(
  { call, outputTokens, store, redact }: Execution,
  status: ToolResultStatus,
  given: readonly ToolOutputBlock[],
): Promise<Executed> {
  const blocks = given.map((block) => withoutSecrets(block, redact));
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const cut = truncateOutput(text, { maxTokens: outputTokens, callId: call.callId });
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

/** Also inside bytes: a text file comes as such, too. */
function withoutSecrets(block: ToolOutputBlock, redact: (text: string) => string): ToolOutputBlock {
  if (block.type === 'text') return { ...block, text: redact(block.text) };
  if (!('base64' in block)) return block;
  const bytes = Buffer.from(block.base64, 'base64').toString('latin1');
  const safe = redact(bytes);
  return {
    ...block,
    ...(safe === bytes ? {} : { base64: Buffer.from(safe, 'latin1').toString('base64') }),
    ...(block.name === undefined ? {} : { name: redact(block.name) }),
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
