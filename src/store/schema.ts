import type { Generated } from 'kysely';

/**
 * The tables, as both databases have them. Times are ISO 8601 UTC texts unless a name ends in `_ms`; `*_json` holds
 * `JSON.stringify` output, which also carries what a database text cannot (NUL, lone surrogates).
 */
export interface Schema {
  store_meta: { key: string; value: string };
  sessions: SessionsTable;
  agent_runs: AgentRunsTable;
  messages: MessagesTable;
  agent_events: AgentEventsTable;
  event_deltas: EventDeltasTable;
  transcript_items: TranscriptItemsTable;
  conversation_turns: ConversationTurnsView;
  tool_calls: ToolCallsTable;
  tool_outputs: ToolOutputsTable;
  tool_effects: ToolEffectsTable;
  approvals: ApprovalsTable;
  blobs: BlobsTable;
  requests: RequestsTable;
  usage: UsageTable;
  activity_attempts: { owner: string; activity_id: string; attempt: number };
  session_compactions: SessionCompactionsTable;
  compaction_phases: CompactionPhasesTable;
  view_edits: ViewEditsTable;
  facts: FactsTable;
  budgets: BudgetsTable;
  budget_runs: BudgetRunsTable;
  budget_warnings: BudgetWarningsTable;
  model_calibration: ModelCalibrationTable;
  rate_buckets: RateBucketsTable;
  superseded_rows: SupersededRowsTable;
}

/**
 * `last_seq`: last position ever given, superseded ones too. `open_batch_seq`: the batch that awaits its results.
 * `view_revision`: see `CompactionStore`.
 */
interface SessionsTable {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  owner: string;
  claimed_at_ms: number;
  last_seq: number;
  open_batch_seq: number | null;
  view_revision: string;
}

/** Counters are sums over committed steps and compactions' calls, but for `steps`; `unpriced_steps` counts those of unknown cost. */
export interface AgentRunsTable {
  run_id: string;
  session_id: string;
  run_number: number;
  status: string;
  agent: string;
  model: string;
  owner: string;
  started_at: string;
  completed_at: string | null;
  config_json: string;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
  unpriced_steps: number;
  /** Index of the terminal event, once closed. */
  final_index: number | null;
}

/** Accepted messages. `run_id`: the run that took it in; `outcome_*`: the event that ended it, written once. */
interface MessagesTable {
  session_id: string;
  message_id: string;
  mode: string;
  queued_run_id: string;
  run_id: string | null;
  accepted_at: string;
  outcome_run_id: string | null;
  outcome_index: number | null;
}

interface AgentEventsTable {
  run_id: string;
  index: number;
  event_type: string;
  schema_version: number;
  payload_json: string;
  created_at: string;
}

interface EventDeltasTable {
  run_id: string;
  step: number;
  attempt: number;
  n: number;
  kind: string;
  text_json: string;
}

/** `superseded_by`: Temporal run id of the reset that made the item part of a branch. `readable`: text for people. */
export interface TranscriptItemsTable {
  id: Generated<number>;
  session_id: string;
  seq: number;
  run_id: string;
  step: number;
  kind: string;
  origin: string | null;
  schema_version: number;
  item_json: string;
  readable: string | null;
  owner: string;
  superseded_by: string | null;
  created_at: string;
}

/** What a person reads: user and assistant texts in order. A view. */
interface ConversationTurnsView {
  turn_id: number;
  session_id: string;
  run_id: string;
  role: string;
  content: string;
  created_at: string;
}

/**
 * Every call of a session: asked for, started, ended. `stored_json` (what people see) is
 * written once; `result_json` with it, until the batch's item takes the result over.
 */
interface ToolCallsTable {
  session_id: string;
  call_id: string;
  run_id: string;
  step: number;
  name: string;
  started_at: string | null;
  attempt: number;
  stored_json: string | null;
  result_json: string | null;
  output_units: number | null;
  completed_at: string | null;
}

/** Whole outputs in pieces of `CHUNK_UNITS` UTF-16 units, each a JSON string. */
interface ToolOutputsTable {
  session_id: string;
  call_id: string;
  chunk: number;
  text_json: string;
}

/** What tools with effects did. `late_result_json`: came after the call was given up; `late_told_at`: the model knows. `branch_told_seq`: item that tells the model, when a reset left the call behind. */
export interface ToolEffectsTable {
  session_id: string;
  call_id: string;
  run_id: string;
  name: string;
  effect: string;
  owner: string;
  activity_id: string;
  attempt: number;
  lease_until_ms: number;
  started_at: string;
  completed_at: string | null;
  late_result_json: string | null;
  late_told_at: string | null;
  branch_told_seq: number | null;
}

/** Calls that people were asked about. `decision`: an `approval_resolved`'s; a grant for the session is one too. */
interface ApprovalsTable {
  session_id: string;
  call_id: string;
  run_id: string;
  step: number;
  name: string;
  label: string;
  arguments_hash: string;
  deadline: string;
  asked_at: string;
  decision: string | null;
  decided_by: string | null;
  decided_at: string | null;
}

interface BlobsTable {
  sha256: string;
  media_type: string;
  byte_length: number;
  name: string | null;
  bytes: Uint8Array;
  created_at: string;
}

/** A model call and the activity that began it last. `committed_at` and `outcome_json` are set together. */
export interface RequestsTable {
  run_id: string;
  step: number;
  session_id: string;
  owner: string;
  activity_id: string;
  attempt: number;
  head_at_begin: number;
  began_at: string;
  model: string | null;
  request_json: string | null;
  outcome_json: string | null;
  committed_at: string | null;
}

/** One paid model call of a run or compaction; `usage_json` null when the provider told none. */
interface UsageTable {
  run_id: string;
  step: number;
  purpose: string;
  session_id: string;
  model: string;
  usage_json: string | null;
  cost_usd: number | null;
  created_at: string;
}

/** Committed compactions. `n`: number within the session, from 0. */
export interface SessionCompactionsTable {
  session_id: string;
  compaction_id: string;
  n: number;
  trigger: string;
  reason: string;
  summary: string;
  first_kept_turn_id: number | null;
  first_kept_seq: number;
  protected_seqs_json: string;
  source_hash: string;
  tokens_before: number;
  tokens_after: number;
  provider_id: string;
  model: string;
  quality_json: string;
  metadata_json: string;
  created_at: string;
}

/** Outcomes of phases, each written once. `n`: number within the session, from 0. */
export interface CompactionPhasesTable {
  compaction_id: string;
  phase: string;
  session_id: string;
  n: number;
  run_id: string;
  step: number;
  output_json: string;
  usage_json: string;
  created_at: string;
}

/** What maintenance passes did to a session's view. `n`: number within the session, from 0. */
interface ViewEditsTable {
  session_id: string;
  n: number;
  compaction_id: string;
  seq: number;
  edit_json: string;
  created_at: string;
}

/** `session_id`: whose fact it is, and for the workspace's where it was learnt, when that is known. */
export interface FactsTable {
  fact_id: string;
  session_id: string | null;
  scope: string;
  kind: string;
  text: string;
  source_seq: number | null;
  source_json: string;
  status: string;
  created_at: string;
  updated_at: string;
}

/** Calls under way, and calls of which the provider told no usage; others stand in their runs' totals. */
interface BudgetsTable {
  run_id: string;
  step: number;
  purpose: string;
  root_run_id: string;
  root_session_id: string;
  reserved_tokens: number;
  reserved_usd: number;
  settled_tokens: number | null;
  settled_usd: number | null;
  created_at: string;
}

/** Runs with budgets. `extra_*`: what people added to its limits. `worked_ms`: without waiting for people. */
interface BudgetRunsTable {
  run_id: string;
  root_run_id: string;
  root_session_id: string;
  extra_usd: number;
  extra_tokens: number;
  extra_ms: number;
  worked_ms: number;
  updated_at: string;
}

/** Limits of which readers were told that little is left. `scope`: `run/<id>` or `session/<id>`. */
interface BudgetWarningsTable {
  scope: string;
  limit_name: string;
  run_id: string;
  created_at: string;
}

interface ModelCalibrationTable {
  model: string;
  factor: number;
  samples: number;
  updated_at: string;
}

/** What is left of a provider's limit, as of `updated_ms` (milliseconds since the epoch). */
interface RateBucketsTable {
  bucket: string;
  level: number;
  updated_ms: number;
}

/** Rows that resets put aside, their keys being needed again. `superseded_by`: Temporal run id of the reset. */
interface SupersededRowsTable {
  superseded_by: string;
  table_name: string;
  n: number;
  session_id: string;
  row_json: string;
  created_at: string;
}
