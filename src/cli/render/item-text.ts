import type { AgentItem, ContentBlock, RefusalBlock } from '../../transcript/items.ts';
import { size } from './quantities.ts';
import { visible, visibleLine } from './visible.ts';

const RESULT_LINES = 6;
const LINE_LIMIT = 160;

/** A transcript item for people: a heading with its seq, and its text, all made harmless. `whole` shows long results to their end. */
export function itemText(seq: number, item: AgentItem, { whole = false }: { readonly whole?: boolean } = {}): string {
  switch (item.kind) {
    case 'user_message':
      return block(seq, item.origin === 'user' ? 'user' : `user (${item.origin})`, blocksText(item.content));
    case 'assistant_message': {
      const cut = item.interrupted === true ? ' (interrupted)' : item.truncated === true ? ' (cut off)' : '';
      return block(seq, `assistant${cut}`, blocksText(item.content));
    }
    case 'reasoning_summary':
      return item.text === '' ? '' : block(seq, 'thinking', visible(item.text));
    case 'tool_call_batch':
      return block(
        seq,
        'calls',
        item.calls
          .map(({ name, arguments: args, argumentsError }) => {
            const text = `${visibleLine(name, 80)} ${visibleLine(JSON.stringify(args), LINE_LIMIT)}`;
            return argumentsError === undefined ? text : `${text}\n${visibleLine(argumentsError, LINE_LIMIT)}`;
          })
          .join('\n'),
      );
    case 'tool_result_batch':
      return block(
        seq,
        'results',
        item.results
          .map(({ status, content }) => `${status}: ${whole ? blocksText(content) : excerpt(blocksText(content))}`)
          .join('\n'),
      );
    case 'builtin_tool_event':
      return block(
        seq,
        `provider's ${visibleLine(item.name, 60)} ${item.phase}`,
        visibleLine(JSON.stringify(item.payload), LINE_LIMIT),
      );
    case 'compaction_summary':
      return block(seq, 'summary', visible(item.text));
  }
}

function block(seq: number, heading: string, text: string): string {
  const body = text.trimEnd().replaceAll('\n', '\n    ');
  return `#${seq} ${heading}\n    ${body}\n`;
}

function blocksText(blocks: readonly (ContentBlock | RefusalBlock)[]): string {
  return blocks.map(blockText).join('\n');
}

function blockText(content: ContentBlock | RefusalBlock): string {
  switch (content.type) {
    case 'text':
      return visible(content.text);
    case 'refusal':
      return `(refused) ${visible(content.text)}`;
    case 'extension':
      return `[${visibleLine(content.name, 60)}] ${visibleLine(JSON.stringify(content.data), LINE_LIMIT)}`;
    case 'image':
    case 'audio':
    case 'file':
      return `[${content.type} ${visibleLine(content.media.name ?? content.media.mediaType, 80)}, ${size(content.media.byteLength)}]`;
  }
}

/** The first lines of a long result, and how many more there are. */
function excerpt(text: string): string {
  const lines = text.trimEnd().split('\n');
  const shown = lines
    .slice(0, RESULT_LINES)
    .map((line) => (line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)}…` : line));
  return lines.length > RESULT_LINES
    ? [...shown, `… ${lines.length - RESULT_LINES} more lines`].join('\n')
    : shown.join('\n');
}
