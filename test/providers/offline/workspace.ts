import { createOfflineProvider } from '../../../src/providers/offline/adapter.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import type { Message, ToolResultBlock, ToolSpec, ToolUseBlock } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';

/** Files of a workspace by path. */
export type Files = Readonly<Record<string, string>>;

const spec = (name: string): ToolSpec => ({ name, description: name, inputSchema: { type: 'object' } });
export const TOOLS: readonly ToolSpec[] = ['list_dir', 'find_files', 'search_text', 'read_file'].map(spec);

/** What the workspace tools would print, over files in memory. */
function run(files: Files, name: string, input: JsonObject): string {
  switch (name) {
    case 'list_dir':
      return [
        ...new Set(Object.keys(files).map((path) => (path.includes('/') ? `${path.split('/')[0]}/` : path))),
      ].join('\n');
    case 'find_files': {
      const part = String(input.pattern).replaceAll('*', '').replaceAll('/', '').toLowerCase();
      return Object.keys(files)
        .filter((path) => path.toLowerCase().includes(part))
        .join('\n');
    }
    case 'search_text': {
      const pattern = new RegExp(String(input.query), 'i');
      const rows = Object.entries(files).flatMap(([path, text]) =>
        text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line}`] : [])),
      );
      return rows.length === 0 ? '(no matches)' : rows.join('\n');
    }
    default: {
      const lines = (files[String(input.path)] ?? '').split('\n');
      const first = Number(input.startLine ?? 1);
      return lines
        .slice(first - 1, Number(input.endLine ?? 1000))
        .map((line, at) => `${first + at}\t${line}`)
        .join('\n');
    }
  }
}

export interface Answered {
  readonly text: string;
  /** Calls per round. */
  readonly rounds: readonly (readonly { readonly name: string; readonly input: JsonObject }[])[];
  readonly deltas: readonly string[];
}

/** One question, answered by the offline model with the tools of `files`. */
export async function ask(question: string, files: Files, tools: readonly ToolSpec[] = TOOLS): Promise<Answered> {
  const provider = createOfflineProvider();
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: question }] }];
  const rounds: ToolUseBlock[][] = [];
  for (;;) {
    const events: StreamEvent[] = [];
    const request = { model: 'extractive', messages, tools };
    for await (const event of provider.stream(request, { signal: AbortSignal.timeout(30_000) })) events.push(event);
    const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
    const calls = events.flatMap((event): ToolUseBlock[] => {
      if (event.type !== 'tool_call_delta') return [];
      const callId = event.nativeId ?? '';
      const input = JSON.parse(event.arguments ?? '{}') as JsonObject;
      return [{ type: 'tool_use', callId, nativeId: callId, name: event.name ?? '', input }];
    });
    if (calls.length === 0) return { text: deltas.join(''), rounds, deltas };
    rounds.push(calls);
    messages.push({ role: 'assistant', content: calls });
    const results = calls.map(
      ({ callId, name, input }): ToolResultBlock => ({
        type: 'tool_result',
        callId,
        name,
        status: 'ok',
        content: [{ type: 'text', text: run(files, name, input) }],
      }),
    );
    messages.push({ role: 'tool', content: results });
  }
}
