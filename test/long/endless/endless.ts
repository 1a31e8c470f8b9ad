import type { Store } from '../../../src/store/store.ts';
import { createSearchTranscript } from '../../../src/tools/history/search-transcript.ts';
import { textTokens } from '../../../src/transcript/text-tokens.ts';
import { faithful, forgetful, silent } from '../../fakes/summarisers.ts';
import { toolContext } from '../../tools/context.ts';
import { type Fact, holds, plantedFacts } from './facts.ts';
import type { ServerRef, SessionReport, Sessions, SessionsSetup } from './sessions.ts';

/** Tokens: the smallest window that people still use. */
const WINDOW = 8000;

/** Three sessions over the same long work, that differ in how well their model summarises. */
export function endlessSetup({
  server,
  steps,
  facts: count,
}: {
  readonly server: ServerRef;
  readonly steps: number;
  readonly facts: number;
}): SessionsSetup {
  const facts = plantedFacts(count, steps, 7);
  const exact = new Set(facts.map(({ text }) => text));
  const keeps = (word: string): boolean => exact.has(word);
  return {
    server,
    work: { steps, facts },
    window: WINDOW,
    maxOutputTokens: 500,
    compaction: { keepRecentTokens: 1200 },
    sessions: [
      { name: 'faithful', api: 'openai-chat', summariser: faithful(keeps) },
      { name: 'forgetful', api: 'anthropic', summariser: forgetful(0.5, 3, keeps) },
      { name: 'silent', api: 'openai-chat', summariser: silent },
    ],
  };
}

/** What is claimed of an endless session, measured. */
export interface Outcome {
  readonly name: string;
  /** Answer of the run, or the event that it ended in. */
  readonly ended: string;
  readonly requests: number;
  readonly summaries: number;
  readonly compactions: number;
  readonly continuedAsNew: number;
  /** Requests that did not fit the window, and such that broke a rule of the wire. */
  readonly overflowed: number;
  readonly malformed: number;
  /** Share of the facts asked for that stood in the request, 0 to 1. */
  readonly recall: number;
  readonly missingAtEnd: readonly string[];
  /** Tokens of each checkpoint's summary, in order. */
  readonly summaryTokens: readonly number[];
  /** Size of the last summary over that of the fifth; `NaN` where there are fewer. */
  readonly growth: number;
  /** Largest |estimate − counted| / counted over the agent's requests, the first left out: it teaches the estimator. */
  readonly worstEstimate: number;
  /** Facts that `search_transcript` does not find. */
  readonly notFound: readonly string[];
}

export async function outcomeOf(report: SessionReport, { store, setup }: Sessions): Promise<Outcome> {
  const { name, ended, recall, requests, continuedAsNew } = report;
  const summaryTokens = (await store.checkpoints(name)).map(({ summary }) => textTokens(summary));
  return {
    name,
    ended: ended.type === 'final_response' ? ended.text : JSON.stringify(ended),
    requests: requests.length,
    summaries: requests.filter(({ summarising }) => summarising).length,
    compactions: (await store.compactionResults(name)).length,
    continuedAsNew,
    overflowed: requests.filter(({ overflowed }) => overflowed).length,
    malformed: requests.filter(({ broken }) => broken.length > 0).length,
    recall: recall.found / Math.max(1, recall.asked),
    missingAtEnd: recall.missingAtEnd.map(({ text }) => text),
    summaryTokens,
    growth: (summaryTokens.at(-1) ?? Number.NaN) / (summaryTokens[4] ?? Number.NaN),
    worstEstimate: await worstEstimate(report, store),
    notFound: await notFound(name, setup.work.facts, store),
  };
}

async function worstEstimate({ runId, requests }: SessionReport, store: Store): Promise<number> {
  const answered = requests.filter(({ summarising, status }) => !summarising && status === 200);
  let worst = 0;
  for (const [step, { counted }] of answered.entries()) {
    if (step === 0) continue;
    const estimated = (await store.request(runId, step))?.request?.estimatedTokens;
    // A request without an estimate is as bad as a wrong one.
    worst = Math.max(worst, typeof estimated === 'number' ? Math.abs(estimated - counted) / counted : 1);
  }
  return worst;
}

async function notFound(sessionId: string, facts: readonly Fact[], store: Store): Promise<readonly string[]> {
  const search = createSearchTranscript(store);
  const missing: string[] = [];
  for (const { text } of facts) {
    const found = await search.execute({ query: text }, toolContext({ sessionId }));
    if (!holds(String(found), text)) missing.push(text);
  }
  return missing;
}
