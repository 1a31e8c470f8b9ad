import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import pino from 'pino';
import { HoldfastClient } from '../../../src/client/holdfast-client.ts';
import { type CompactionOverrides, compactionConfig } from '../../../src/compaction/config.ts';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { openaiChat } from '../../../src/providers/openai-chat/adapter.ts';
import { createProviderRegistry } from '../../../src/providers/registry.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createSearchTranscript } from '../../../src/tools/history/search-transcript.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import type { AgentEvent } from '../../../src/transcript/events.ts';
import { type HoldfastWorker, startWorker } from '../../../worker.ts';
import type { Asked } from '../../fakes/caching/asked.ts';
import { type BilledRequest, startCachingProvider } from '../../fakes/caching-provider.ts';
import { isSummarising, type Summariser } from '../../fakes/summarisers.ts';
import { createGrader, type Recall } from './grader.ts';
import { agentAnswer, lastPart, readPartTool, type Work } from './script.ts';

/** A Temporal server to run on, and the workflows as `startWorker` takes them. */
export interface ServerRef {
  readonly address: string;
  readonly namespace: string;
  readonly workflows: { readonly bundlePath: string } | { readonly entryPath: string };
}

/** One long session: how its model is spoken to and how it summarises. */
export interface SessionSpec {
  /** Also the name of its model. */
  readonly name: string;
  readonly api: 'openai-chat' | 'anthropic';
  readonly summariser: Summariser;
}

export interface SessionsSetup {
  readonly server: ServerRef;
  readonly work: Work;
  readonly sessions: readonly SessionSpec[];
  /** Tokens. */
  readonly window: number;
  readonly maxOutputTokens: number;
  readonly compaction?: CompactionOverrides;
}

/** A request of a session, without its body. */
export interface RequestRecord extends Omit<BilledRequest, 'asked' | 'body'> {
  readonly summarising: boolean;
  /** A summarising request that carries the agent's tools: the agent's own request and one message more. */
  readonly rides: boolean;
  readonly counted: number;
}

/** What a session came to. */
export interface SessionReport {
  readonly name: string;
  readonly runId: string;
  readonly ended: AgentEvent;
  readonly recall: Recall;
  readonly requests: readonly RequestRecord[];
  /** Executions of the session's workflow that went on in another. */
  readonly continuedAsNew: number;
}

export interface Sessions {
  readonly setup: SessionsSetup;
  readonly reports: readonly SessionReport[];
  readonly store: Store;
  close(): Promise<void>;
}

/** Workflows of this checkout, from the sources under vitest and from `dist` else. */
export const WORKFLOWS = {
  entryPath: fileURLToPath(
    new URL(`../../../src/workflows/index.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
  ),
} as const;

/** A folder in memory where there is one: what the disk takes for thousands of steps proves nothing here. */
export function scratchFolder(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdfast-endless-'));
}

/** Runs all sessions at once to their ends, each with a model of its own behind the real clients. */
export async function runSessions(setup: SessionsSetup): Promise<Sessions> {
  const folder = scratchFolder();
  const tracks = new Map(setup.sessions.map((spec, at) => [spec.name, trackOf(spec, setup.work, at)]));
  const fake = await startCachingProvider({
    window: () => setup.window,
    answer: (asked) => trackNamed(tracks, asked.model).answer(asked),
    seen: (request) => trackNamed(tracks, request.asked.model).seen(request),
  });
  const location = join(folder, 'holdfast.db');
  const store = await openStore(location);
  const worker = await startSessionWorker(setup, { store, folder, modelUrl: fake.url });
  const client = await HoldfastClient.connect({
    connection: { address: setup.server.address },
    namespace: setup.server.namespace,
    store: location,
  });
  const close = async (): Promise<void> => {
    worker.shutdown();
    await worker.done;
    await client.close();
    await store.close();
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const reports = await Promise.all(
      setup.sessions.map((spec) => runSession(client, spec, trackNamed(tracks, spec.name))),
    );
    return { setup, reports, store, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A worker whose one agent does the work, with models at `modelUrl`. */
export function startSessionWorker(
  setup: Omit<SessionsSetup, 'sessions'>,
  { store, folder, modelUrl }: { readonly store: Store; readonly folder: string; readonly modelUrl: string },
): Promise<HoldfastWorker> {
  const log = pino({ level: 'silent' });
  return startWorker({
    connection: { address: setup.server.address },
    namespace: setup.server.namespace,
    workflows: setup.server.workflows,
    log,
    deps: {
      store,
      agents: new Map([['default', agentOf(setup, store)]]),
      providers: createProviderRegistry({ providers: providersAt(modelUrl), default: 'openai-chat/none' }),
      log,
      workspace: folder,
      catalog: {
        facts: () => ({ windowTokens: setup.window, maxOutputTokens: setup.maxOutputTokens, abilities: {} }),
        costUsd: () => null,
      },
    },
  });
}

async function runSession(client: HoldfastClient, { name, api }: SessionSpec, track: Track): Promise<SessionReport> {
  const sent = await client.send({
    sessionId: name,
    text: 'Read the whole document, part by part.',
    model: `${api}/${name}`,
  });
  const { event, runId } = await client.result(sent);
  await client.temporal.workflow
    .getHandle(`session/${name}`)
    .result()
    .catch(() => undefined);
  let continuedAsNew = 0;
  for await (const { status } of client.temporal.workflow.list({ query: `WorkflowId = "session/${name}"` })) {
    if (status.name === 'CONTINUED_AS_NEW') continuedAsNew += 1;
  }
  return { name, runId, ended: event, recall: track.recall(), requests: track.requests, continuedAsNew };
}

/** What is noted of one session while it runs. */
interface Track {
  readonly requests: RequestRecord[];
  answer(asked: Asked): ReturnType<Summariser>;
  seen(request: BilledRequest): void;
  recall(): Recall;
}

function trackOf({ summariser }: SessionSpec, work: Work, seed: number): Track {
  const grader = createGrader(work.facts, work.steps, seed + 1);
  const requests: RequestRecord[] = [];
  return {
    requests,
    recall: () => grader.recall(),
    answer(asked) {
      if (isSummarising(asked)) return summariser(asked);
      grader.grade(asked, lastPart(asked));
      return agentAnswer(work, asked);
    },
    seen({ asked, body: _, ...rest }) {
      const summarising = isSummarising(asked);
      requests.push({ ...rest, counted: asked.counted, summarising, rides: summarising && asked.toolNames.length > 0 });
    },
  };
}

function trackNamed(tracks: ReadonlyMap<string, Track>, name: string): Track {
  const track = tracks.get(name);
  if (track === undefined) throw new TypeError(`no session has the model ${name}`);
  return track;
}

function agentOf({ work, maxOutputTokens, compaction }: Omit<SessionsSetup, 'sessions'>, store: Store) {
  return {
    name: 'default',
    instructions: 'You read a long document part by part and keep what is exact.',
    tools: createToolRegistry([readPartTool(work), createSearchTranscript(store)], { allowEffects: false }),
    maxToolTurns: work.steps + 100,
    maxParallelTools: 8,
    toolTimeoutSecs: 60,
    maxOutputTokens,
    compaction: compactionConfig(compaction),
  };
}

function providersAt(url: string) {
  const openai = new OpenAI({ apiKey: 'unused', baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: 'unused', baseURL: url, maxRetries: 0 });
  return [
    openaiChat({ id: 'openai-chat', client: openai, dialect: 'generic', endpoint: `${url}/v1`, account: 'test' }),
    createAnthropicProvider({ id: 'anthropic', client: anthropic, account: 'test' }),
  ];
}
