import Anthropic from '@anthropic-ai/sdk';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { loadRunConfig } from '../../../src/store/run-config.ts';
import { buildRequest } from '../../../src/transcript/build-request.ts';
import type { TranscriptEntry } from '../../../src/transcript/items.ts';
import { microcompact } from '../../../src/transcript/microcompact.ts';
import { buildView } from '../../../src/transcript/view.ts';
import { anthropicCache, type InputBill } from '../../fakes/caching/anthropic-cache.ts';
import { promptBlocks } from '../../fakes/caching/prompt-blocks.ts';
import { inputTokens } from '../../fakes/caching-provider.ts';
import { faithful } from '../../fakes/summarisers.ts';
import type { ServerRef, SessionReport, Sessions, SessionsSetup } from './sessions.ts';

/** A session in a window that takes some fifty steps, with the marks that Anthropic bills by. */
export function cacheSetup(server: ServerRef, steps: number): SessionsSetup {
  return {
    server,
    work: { steps, facts: [] },
    window: 28_000,
    maxOutputTokens: 1000,
    sessions: [{ name: 'cached', api: 'anthropic', summariser: faithful() }],
  };
}

/** The same without pruning of old results: every pass writes a summary, by a request that rides on the agent's own. */
export function rideSetup(server: ServerRef, steps: number): SessionsSetup {
  return {
    ...cacheSetup(server, steps),
    window: 48_000,
    // What an answer may take is kept free, and a summary needs it.
    maxOutputTokens: 12_000,
    compaction: { keepRecentMessages: 2 * steps },
    sessions: [{ name: 'riding', api: 'anthropic', summariser: faithful() }],
  };
}

/** Share of all input tokens that were read from the cache, 0 to 1. */
export function cachedShare(bills: readonly InputBill[]): number {
  const all = bills.reduce((sum, bill) => sum + inputTokens(bill), 0);
  return bills.reduce((sum, { read }) => sum + read, 0) / all;
}

/**
 * What the requests of the same session would have cost if old results were pruned as soon as they are old, in every step:
 * the way that is wide-spread, and that changes bytes already sent each time.
 */
export async function perStepPruning(
  { store }: Sessions,
  { name, runId }: SessionReport,
): Promise<readonly InputBill[]> {
  const run = await loadRunConfig(store, runId);
  const entries = await store.entries(name);
  const client = new Anthropic({ apiKey: 'unused', maxRetries: 0 });
  const provider = createAnthropicProvider({ client, account: 'test' });
  const accepts = { image: true, audio: true, file: true };
  const target = { api: provider.api, provider: provider.id, model: name, scope: provider.scope(name), accepts };
  const cache = anthropicCache(() => 0, 1024);
  return requestHeads(entries).map((head) => {
    const before = buildView({ entries: entries.slice(0, head), budget: { budget: 1_000_000 } });
    const { edits } = microcompact(before, { keepRecentMessages: 10 });
    const { request } = buildRequest(run, buildView({ ...before.input, edits }), target);
    const body = JSON.parse(JSON.stringify(provider.wire(request, () => undefined)));
    return cache.bill(body, promptBlocks('anthropic', body));
  });
}

/** How many entries each request of the session saw: up to a user message or the results of a batch. */
function requestHeads(entries: readonly TranscriptEntry[]): readonly number[] {
  return entries.flatMap(({ item }, at) =>
    item.kind === 'user_message' || item.kind === 'tool_result_batch' ? [at + 1] : [],
  );
}
