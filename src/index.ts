export type { ApprovalRequest } from './client/approvals.ts';
export type { Fork, ForkOptions } from './client/fork.ts';
export {
  type ConnectOptions,
  HoldfastClient,
  type HoldfastClientOptions,
  type OutgoingMessage,
  type SentMessage,
} from './client/holdfast-client.ts';
export type { CompactionCheckpoint, CompactionResult } from './compaction/models.ts';
export { defineAgent, defineConfig } from './config/define-config.ts';
export type { AgentSettings, HoldfastConfig } from './config/settings.ts';
export { ERROR_HINTS, HoldfastError, type HoldfastErrorCode } from './contract/errors.ts';
export type { ApprovalResolution, PendingApproval } from './contract/messages.ts';
export type { Hook, HookContext, Veto } from './hooks/hooks.ts';
export { submitStream } from './providers/submit-stream.ts';
export { defineJsonTool, defineTool } from './tools/define-tool.ts';
export type { PolicyDecision, PolicyRule } from './tools/policy.ts';
export { Refusal } from './tools/refusal.ts';
export type { Tool, ToolContext, ToolDefinition } from './tools/tool.ts';
export type { AgentEvent, RecordedEvent, RunStatus } from './transcript/events.ts';
export type { AgentItem, AgentTranscript, TranscriptEntry } from './transcript/items.ts';
