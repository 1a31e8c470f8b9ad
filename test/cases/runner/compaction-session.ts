import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { AgentSpec } from '../../../src/activities/agents.ts';
import { createActivities } from '../../../src/activities/create-activities.ts';
import { compactionConfig } from '../../../src/compaction/config.ts';
import type { CompactionResult } from '../../../src/compaction/models.ts';
import type { SendMessage } from '../../../src/contract/messages.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { createProviderRegistry } from '../../../src/providers/registry.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { defineJsonTool } from '../../../src/tools/define-tool.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { AgentItem, MediaRef } from '../../../src/transcript/items.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import { type BilledRequest, startCachingProvider } from '../../fakes/caching-provider.ts';
import { isSummarising, type Summariser, telling } from '../../fakes/summarisers.ts';
import type { Executed } from './agent-run.ts';
import { isObj, type Obj, objs } from './case-file.ts';
import { type CompactionScript, callKey, type Output } from './compaction-script.ts';
import { type DrivenRun, driveCompactOnly, driveRun } from './drive-run.ts';
import type { Lab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { makeProvider } from './make-provider.ts';
import { asText } from './notation.ts';
import type { Target } from './target.ts';
import type { BuiltTranscript } from './transcript.ts';

/** What a session left behind, and everything that its model was asked. */
export interface SessionEnd {
  readonly runs: readonly DrivenRun[];
  readonly items: readonly AgentItem[];
  /** Items that were there before the product took over. */
  readonly imported: number;
  readonly checkpoints: number;
  /** Compactions that ran, whatever came of them. */
  readonly compactions: number;
  readonly requests: readonly BilledRequest[];
  /** The requests of the agent itself, as the product made them. */
  readonly asked: readonly MessageRequest[];
  readonly media: ReadonlyMap<string, string>;
  readonly executed: Executed;
  /** Summaries that were being written at the same time, at most. */
  readonly summariesAtOnce: number;
  /** Ids of the requests that each compaction answered. */
  readonly answered: readonly (readonly string[])[];
  /** Texts of the checkpoints, oldest first. */
  readonly summaries: readonly string[];
}

const SESSION = 'case';

/**
 * Drives a compaction case through the real activities, store and adapter, with a server that counts, refuses what does not
 * fit the case's window, and answers by the script.
 *
 * @param asks whether somebody asks for a compaction where the script says.
 */
export async function compactionSession({
  script,
  input,
  target,
  lab,
  transcript,
  asks,
}: {
  readonly script: CompactionScript;
  readonly input: Obj;
  readonly target: Target;
  readonly lab: Lab;
  readonly transcript: BuiltTranscript;
  readonly asks: boolean;
}): Promise<SessionEnd> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-cases-'));
  const model = scriptedServer(script, input);
  const server = await startCachingProvider({
    window: () => (Array.isArray(input.exchange) ? Number.POSITIVE_INFINITY : windowOf(input)),
    answer: (request) => model.answer(request),
    laws: (_, body) => brokenLaws(target, { api: target.api, body }),
  });
  const asked: MessageRequest[] = [];
  const executed: Executed = [];
  const provider = noting(makeProvider(target, { baseUrl: server.url, settings: input }), asked);
  const setup = { folder, provider, script, input, executed, model: lab.model(target), transcript };
  let bench = await openBench(setup);
  try {
    const imported = await importHistory(bench.store, transcript);
    const runs: DrivenRun[] = [];
    if (script.earlier !== undefined) {
      model.summary(script.earlier);
      runs.push(await driveCompactOnly({ ...bench.driven, runId: 'run-before' }, []));
    }
    const before = runs.length;
    const drive = (at: number, prompt: Omit<SendMessage, 'messageId'>): Promise<DrivenRun> => {
      const last = at === script.turns.length - 1;
      model.turn(script.turns[at]?.answers ?? []);
      const requests = Array.from({ length: script.asked.times }, (_, n) => ({ requestId: `request-${n}` }));
      const now = (step: number) => (asks && last && script.asked.at === step ? requests : []);
      return driveRun({ ...bench.driven, runId: `run-${at + 1}`, compactBefore: now }, prompt);
    };
    for (const [at, turn] of script.turns.entries()) {
      const last = at === script.turns.length - 1;
      if (asks && last && script.asked.at === 'idle') {
        runs.push(await driveCompactOnly({ ...bench.driven, runId: 'run-compact' }, [{ requestId: 'request-idle' }]));
      }
      runs.push(await drive(at, await promptOf(bench.store, turn.user)));
      if (asks && !last && isRounds(input)) {
        runs.push(await driveCompactOnly({ ...bench.driven, runId: `run-compact-${at}` }, []));
      }
    }
    if (script.reload) {
      await bench.store.close();
      bench = await openBench(setup);
      runs.push(await driveRun({ ...bench.driven, runId: 'run-again' }, 'And again?'));
    }
    const checkpoints = await bench.store.checkpoints(SESSION);
    const results = await bench.store.compactionResults(SESSION);
    return {
      runs,
      items: (await bench.store.entries(SESSION)).map(({ item }) => item),
      imported,
      checkpoints: checkpoints.length - before,
      compactions: results.length - before,
      requests: server.requests,
      asked,
      media: transcript.media,
      executed,
      summariesAtOnce: model.most(),
      answered: results.map(({ output }) => (output as unknown as CompactionResult).requests),
      summaries: checkpoints.map(({ summary }) => summary),
    };
  } finally {
    await bench.store.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export function windowOf(input: Obj): number {
  return typeof input.window === 'number' ? input.window : 128_000;
}

function isRounds(input: Obj): boolean {
  return typeof input.rounds === 'number';
}

/** The model behind the server: agent and summariser told apart by what they are asked. */
function scriptedServer(script: CompactionScript, input: Obj) {
  let queue: CompactionScript['turns'][number]['answers'] = [];
  let told: Summariser | undefined;
  let running = 0;
  let most = 0;
  return {
    /** The next summary says this. */
    summary(text: string): void {
      told = telling(text);
    },
    turn(answers: typeof queue): void {
      queue = answers;
    },
    most: () => most,
    async answer(request: BilledRequest['asked']) {
      if (isSummarising(request)) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        const summariser = told ?? script.summariser;
        told = undefined;
        return summariser(request);
      }
      const [next, ...rest] = queue;
      queue = rest;
      // What a transcript holds was said, however long it is.
      return next === undefined
        ? { text: input.rounds === undefined ? 'done' : 'Noted.' }
        : { ...next, unlimited: true };
    },
  };
}

/** The provider, with a copy of every request that the product makes of it. */
function noting(provider: Provider, asked: MessageRequest[]): Provider {
  return {
    ...provider,
    stream(request, options) {
      asked.push(request);
      return provider.stream(request, options);
    },
  };
}

interface BenchSetup {
  readonly folder: string;
  readonly provider: Provider;
  readonly script: CompactionScript;
  readonly input: Obj;
  readonly executed: Executed;
  readonly model: string;
  readonly transcript: BuiltTranscript;
}

/** A store and the activities over it, as a process that has just started has them. */
async function openBench({ folder, provider, script, input, executed, model, transcript }: BenchSetup) {
  const store = await openStore(join(folder, 'store.db'));
  const name = `${provider.id}/${model}`;
  const window = windowOf(input);
  const reserve = typeof input.reserve_output === 'number' ? { maxOutputTokens: input.reserve_output } : {};
  const agent: AgentSpec = {
    name: 'default',
    instructions: transcript.systemTexts.join('\n\n') || 'You are a test agent.',
    model: name,
    tools: createToolRegistry(toolsOf(script, executed)),
    maxToolTurns: 10,
    maxParallelTools: 8,
    toolTimeoutSecs: 60,
    compaction: compactionConfig(settingsOf(input, window)),
    ...reserve,
  };
  const activities = createActivities({
    store,
    agents: new Map([[agent.name, agent]]),
    providers: createProviderRegistry({ providers: [provider], default: name }),
    log: pino({ level: 'silent' }),
    workspace: folder,
    catalog: { facts: () => ({ windowTokens: window, abilities: { images: true } }), costUsd: () => null },
  });
  return { store, driven: { activities, store, sessionId: SESSION } };
}

/** The case's settings in the product's words; a trigger is the size from which on a compaction must come first. */
function settingsOf(input: Obj, window: number) {
  const { trigger, keep_recent_tokens: tokens, keep_recent_items: items, max_body_bytes: bytes } = input;
  return {
    ...(typeof trigger === 'number' ? { triggerRatio: trigger / window, hardRatio: trigger / window } : {}),
    ...(typeof tokens === 'number' ? { keepRecentTokens: tokens } : {}),
    ...(typeof items === 'number' ? { keepRecentMessages: items } : {}),
    // A tenth is left for the text.
    ...(typeof bytes === 'number' ? { maxMediaBytes: Math.floor(0.9 * bytes) } : {}),
  };
}

function toolsOf({ toolNames, outputs }: CompactionScript, executed: Executed): Tool[] {
  const given = new Map<string, number>();
  return toolNames.map((name) =>
    defineJsonTool({
      name,
      description: 'A tool.',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', properties: {} },
      execute: (args) => {
        executed.push({ name, args });
        const key = callKey(name, args);
        const times = given.get(key) ?? 0;
        given.set(key, times + 1);
        return said(outputs.get(key)?.[times] ?? outputs.get(key)?.at(-1) ?? { text: 'ok' });
      },
    }),
  );
}

function said(output: Output): string {
  if ('error' in output) throw new Error(output.error);
  return output.text;
}

/** How many items of history the store took. */
async function importHistory(store: Store, { items, media }: BuiltTranscript): Promise<number> {
  for (const base64 of media.values()) await store.putBlob(Buffer.from(base64, 'base64'), 'image/png');
  if (items.length === 0) return 0;
  const { head } = await store.importSession({ sessionId: SESSION, runId: 'earlier', items });
  return head;
}

/** A user message of the notation as it is sent: its words, its pictures as attachments. */
async function promptOf(store: Store, user: unknown): Promise<Omit<SendMessage, 'messageId'>> {
  if (!Array.isArray(user)) return { text: asText(user) };
  const attachments: MediaRef[] = [];
  for (const part of objs(user))
    if (isObj(part.image)) attachments.push(await store.putBlob(bytesOf(part.image), 'image/png'));
  const text = objs(user)
    .flatMap((part) => (part.text === undefined ? [] : [asText(part.text)]))
    .join('\n');
  return { text, ...(attachments.length === 0 ? {} : { attachments }) };
}

function bytesOf(image: Obj): Buffer {
  const { base64_bytes: size, base64 } = image;
  return Buffer.from(typeof size === 'number' ? 'A'.repeat(Math.ceil(size / 4) * 4) : String(base64 ?? ''), 'base64');
}
