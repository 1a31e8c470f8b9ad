export { HoldfastClient, type HoldfastClientOptions, type ConnectOptions, type OutgoingMessage, type SentMessage } from './client/holdfast-client.ts';
export { defineAgent, defineConfig } from './config/define-config.ts';
export { ERROR_HINTS, HoldfastError, type HoldfastErrorCode } from './contract/errors.ts';
export { defineTool } from './tools/define-tool.ts';
export type { Tool, ToolContext, ToolDefinition } from './tools/tool.ts';
export type { AgentEvent, RecordedEvent, RunStatus } from './transcript/events.ts';
export type { AgentItem, TranscriptEntry } from './transcript/items.ts';
