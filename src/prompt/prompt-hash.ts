import { createHash } from 'node:crypto';
import type { ToolSpec } from '../transcript/message.ts';

/** Lower-case hex SHA-256 of system prompt and tools: what a token anchor and a cached prefix hang on. */
export function promptHash(systemText: string, tools: readonly ToolSpec[]): string {
  const told = tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  return createHash('sha256')
    .update(JSON.stringify([systemText, told]))
    .digest('hex');
}
