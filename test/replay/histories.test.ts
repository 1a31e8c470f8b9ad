import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Harness, startHarness } from '../integration/harness.ts';
import { workTool } from '../integration/scripts.ts';
import { KINDS, scriptedModel } from './kinds.ts';

/** Histories of every kind of run, as a released worker left them. `HOLDFAST_RECORD=1` writes them anew. */
const FOLDER = fileURLToPath(new URL('./histories/', import.meta.url));
const RECORD = process.env.HOLDFAST_RECORD === '1';

interface Recorded {
  readonly workflowId: string;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON form of a history is whatever the server's protobuf has
  readonly history: any;
}

/** Without the recording machine's paths, process ids and host name. */
function anonymous(json: string): string {
  return json.replaceAll(process.cwd(), '.').replace(/"\d+@[^"]*"/g, '"worker@host"');
}

function replay({ history, workflowId }: Recorded): Promise<void> {
  const { bundlePath } = inject('temporal');
  return Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history, workflowId);
}

let harness: Harness;

/** The workflows that others started, as they closed. */
async function children(parents: readonly Recorded[]): Promise<readonly Recorded[]> {
  const started: { readonly workflowId: string; readonly runId: string }[] = parents.flatMap(({ history }) =>
    history.events.flatMap(
      (event: { childWorkflowExecutionStartedEventAttributes?: { workflowExecution: object } }) =>
        event.childWorkflowExecutionStartedEventAttributes?.workflowExecution ?? [],
    ),
  );
  return Promise.all(
    started.map(async ({ workflowId, runId }) => {
      const handle = harness.client.temporal.workflow.getHandle(workflowId, runId);
      await handle.result().catch(() => undefined);
      return { workflowId, history: JSON.parse(historyToJSON(await handle.fetchHistory())) };
    }),
  );
}

beforeAll(async () => {
  harness = await startHarness({
    answer: scriptedModel,
    tools: [workTool],
    agent: { maxToolTurns: 9, maxOutputTokens: 300 },
    // Small enough that a run can outgrow it.
    facts: { windowTokens: 4000, abilities: {} },
    compaction: { keepRecentTokens: 600 },
  });
});
afterAll(() => harness.stop());

/** What `npm test` drives anew; the long tests drive every kind. Committed histories of all kinds are replayed by both. */
const OFTEN = ['with-tools', 'continued-as-new', 'compacted-by-itself', 'cancelled-while-streaming'];
const driven = RECORD || process.env.HOLDFAST_LONG === '1' ? KINDS : KINDS.filter(({ name }) => OFTEN.includes(name));

describe('a run of today replays, each execution of its chain', () => {
  test.each(driven)('$name', async ({ name, drive, compacts = false }) => {
    await drive(harness, name);
    const executions: Recorded[] = [];
    const { workflow } = harness.client.temporal;
    await expect
      .poll(async () => {
        executions.length = 0;
        for await (const { workflowId, runId } of workflow.list({ query: `WorkflowId = "session/${name}"` })) {
          const history = historyToJSON(await workflow.getHandle(workflowId, runId).fetchHistory());
          executions.push({ workflowId, history: JSON.parse(history) });
        }
        executions.push(...(await children(executions)));
        return executions.length;
      })
      .toBeGreaterThan(0);
    expect(executions.some(({ workflowId }) => workflowId.startsWith('compaction-'))).toBe(compacts);
    for (const [index, execution] of executions.entries()) {
      await replay(execution);
      if (RECORD) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(join(FOLDER, `${name}-${index}.json`), `${anonymous(JSON.stringify(execution))}\n`);
      }
    }
  });
});

const committed = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.name.endsWith('.json'));
const load = (name: string): Recorded => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));

describe('committed histories', () => {
  test('there is one of every kind', () => {
    const kinds = new Set(committed.map(({ name }) => name.replace(/-\d+\.json$/, '')));
    expect(KINDS.map(({ name }) => name).filter((name) => !kinds.has(name))).toEqual([]);
  });

  test.each(committed.map(({ name }) => name))('%s replays', async (name) => {
    await replay(load(name));
  });

  test('a tampered one does not', async () => {
    const recorded = load('with-tools-0.json');
    const text = JSON.stringify(recorded).replaceAll('"callTool"', '"callOther"');
    await expect(replay(JSON.parse(text))).rejects.toThrow(/nondeterminism|determinism/i);
  });
});
