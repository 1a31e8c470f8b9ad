import type { ToolResult } from '../transcript/items.ts';

/** What a result says, media by their kind. */
export function resultText({ content }: Pick<ToolResult, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
