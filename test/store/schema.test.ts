import { describe, expect, test } from 'vitest';
import { STORE_SCHEMA_VERSION } from '../../src/store/migrations.ts';
import { openDatabase } from '../../src/store/open-store.ts';
import { assistantItem, Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

// Pins. Stores in the wild have these tables and columns: a change here is a new migration, never an edit of an old one.
const TABLES = {
  activity_attempts: 'owner activity_id attempt',
  agent_events: 'run_id index event_type schema_version payload_json created_at',
  agent_runs:
    'run_id session_id run_number status agent model owner started_at completed_at config_json steps input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens cost_usd unpriced_steps final_index',
  approvals:
    'session_id call_id run_id step name label arguments_hash deadline asked_at decision decided_by decided_at',
  blobs: 'sha256 media_type byte_length name bytes created_at',
  budget_runs: 'run_id root_run_id root_session_id extra_usd extra_tokens extra_ms worked_ms updated_at',
  budget_warnings: 'scope limit_name run_id created_at',
  budgets:
    'run_id step purpose root_run_id root_session_id reserved_tokens reserved_usd settled_tokens settled_usd created_at',
  compaction_phases: 'compaction_id phase session_id n run_id step output_json usage_json created_at',
  conversation_turns: 'turn_id session_id run_id role content created_at',
  event_deltas: 'run_id step attempt n kind text_json',
  facts: 'fact_id session_id scope kind text source_seq source_json status created_at updated_at',
  messages: 'session_id message_id mode queued_run_id run_id accepted_at outcome_run_id outcome_index',
  model_calibration: 'model factor samples updated_at',
  rate_buckets: 'bucket level updated_ms',
  requests:
    'run_id step session_id owner activity_id attempt head_at_begin began_at model request_json outcome_json committed_at',
  session_compactions:
    'session_id compaction_id n trigger reason summary first_kept_turn_id first_kept_seq protected_seqs_json source_hash tokens_before tokens_after provider_id model quality_json metadata_json created_at',
  sessions: 'session_id title created_at updated_at owner claimed_at_ms last_seq open_batch_seq view_revision',
  store_meta: 'key value',
  superseded_rows: 'superseded_by table_name n session_id row_json created_at',
  tool_calls:
    'session_id call_id run_id step name started_at attempt stored_json result_json output_units completed_at',
  tool_effects:
    'session_id call_id run_id name effect owner activity_id attempt lease_until_ms started_at completed_at late_result_json late_told_at branch_told_seq',
  tool_outputs: 'session_id call_id chunk text_json',
  transcript_items:
    'id session_id seq run_id step kind origin schema_version item_json readable owner superseded_by created_at',
  usage: 'run_id step purpose session_id model usage_json cost_usd created_at',
  view_edits: 'session_id n compaction_id seq edit_json created_at',
};

describe.each(availableStores())('$kind: the schema', ({ location, openAt }) => {
  test('tables and columns of schema 2', async () => {
    const database = await openDatabase(await location(), {});
    const tables = await database.writer.introspection.getTables();
    const found = tables.map((table) => [table.name, table.columns.map((column) => column.name).join(' ')]);
    await database.close();
    expect(Object.fromEntries(found)).toEqual(TABLES);
    expect(STORE_SCHEMA_VERSION).toBe(2);
  });

  test('what people read of a session: users and assistants, no nudges', async () => {
    const place = await location();
    const run = new Execution(await openAt(place), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const nudge = {
      kind: 'user_message',
      schemaVersion: 1,
      origin: 'control',
      content: [{ type: 'text', text: 'on!' }],
    } as const;
    await run.begin(0, { append: [nudge] });
    await run.commit(0, [assistantItem('so \0 it is')]);
    const database = await openDatabase(place, {});
    const turns = await database.reader.selectFrom('conversation_turns').selectAll().orderBy('turn_id').execute();
    await database.close();
    expect(turns.map((turn) => [turn.turn_id, turn.role, turn.content])).toEqual([
      [1, 'user', 'text of m1'],
      [3, 'assistant', 'so \ufffd it is'],
    ]);
  });
});
