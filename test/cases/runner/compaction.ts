import { normalize } from '../../../src/transcript/normalize.ts';
import { textTokens } from '../../../src/transcript/text-tokens.ts';
import { validate } from '../../../src/transcript/validate.ts';
import { isSummarising } from '../../fakes/summarisers.ts';
import { type Case, type Obj, str } from './case-file.ts';
import { type CompactionScript, compactionScript } from './compaction-script.ts';
import { compactionSession, type SessionEnd, windowOf } from './compaction-session.ts';
import { type Lab, openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf } from './next-request.ts';
import type { Observation, SeenRequest } from './observation.ts';
import { parseTarget, type Target } from './target.ts';
import { buildTranscript } from './transcript.ts';
import { messagesOf, partsOf } from './wire-reader.ts';

/** Formats that the server speaks; requests are built for the third as well. */
const TARGETS = ['openai-chat', 'anthropic'];
const FURTHER = 'openai-responses';
/** Keys of a check that say how often a compaction comes by itself: nobody asks for one then. */
const AUTOMATIC = ['compactions', 'max_compactions', 'compaction_before_next_request'];

/**
 * Runs a compaction case through plan, summary, gate, commit and view on each wire format: as it comes by itself, and
 * where the check allows once more with a compaction that somebody asks for. A token estimate is asked of the estimator.
 */
export async function runCompaction({ input, provider, check = {} }: Case): Promise<Observation> {
  if (typeof input.text === 'string') {
    const text = str(input.text).repeat(typeof input.repeat === 'number' ? input.repeat : 1);
    return { tokens: textTokens(text, 'fitted') };
  }
  const automatic = AUTOMATIC.some((key) => check[key] !== undefined);
  const named = TARGETS.filter((target) => target === provider);
  const forms: Observation[] = [];
  const { mustAsk } = compactionScript(compactionInput(input));
  for (const words of named.length === 0 ? TARGETS : named) {
    if (!mustAsk) forms.push(observed(await runForm(words, input, false), words));
    if (mustAsk || !automatic) forms.push(observed(await runForm(words, input, true), words));
  }
  const [first = {}, ...sameAs] = forms;
  return { ...first, sameAs };
}

/** One run of a case with all that it left. */
export interface CompactionRun {
  readonly end: SessionEnd;
  readonly script: CompactionScript;
  readonly input: Obj;
  readonly systemText: string;
  /** The agent's requests, in order; the last is the one that a check speaks of. */
  readonly agentRequests: readonly SeenRequest[];
  readonly summaryRequests: readonly SeenRequest[];
  readonly broken: readonly string[];
}

/** @param asks whether somebody asks for a compaction where the case allows it. */
export async function runForm(words: string, given: Obj, asks: boolean): Promise<CompactionRun> {
  const input = compactionInput(given);
  const target = parseTarget(words, input);
  const lab = await openLab({ settings: input });
  try {
    const script = compactionScript(input);
    const transcript = await buildTranscript(script.history, target, lab);
    const end = await compactionSession({ script, input, target, lab, transcript, asks });
    const of = (summarising: boolean): SeenRequest[] =>
      end.requests
        .filter(({ asked }) => isSummarising(asked) === summarising)
        .map(({ body }) => ({ api: target.api, body }));
    const summaryRequests = of(true);
    return {
      end,
      script,
      input,
      systemText: transcript.systemTexts.join('\n\n').trim(),
      agentRequests: of(false),
      summaryRequests,
      broken: brokenOf(lab, target, end, summaryRequests),
    };
  } finally {
    await lab.close();
  }
}

/** What must hold in every compaction case, whatever its check asks. */
function brokenOf(lab: Lab, target: Target, end: SessionEnd, summaries: readonly SeenRequest[]): string[] {
  const further = parseTarget(FURTHER);
  const refused = end.requests.flatMap(({ broken }) => broken.map((rule) => `${target.api}: ${rule}`));
  const elsewhere = end.asked.flatMap((request) =>
    brokenLaws(further, bodyOf(lab, further, request, end.media)).map((rule) => `${FURTHER}: ${rule}`),
  );
  const violations = validate(normalize(end.items).items, { tail: 'closed' }).map(
    ({ message }) => `the transcript: ${message}`,
  );
  const pictures = summaries.some((request) => partsOf(request, 'image').length > 0)
    ? ['a summarising request holds a picture']
    : [];
  const endless = end.runs.some(({ ended }) => !ended) ? ['a run did not end by itself'] : [];
  const atOnce = end.summariesAtOnce > 1 ? ['two summaries of a session were written at once'] : [];
  return [...new Set([...refused, ...elsewhere])].concat(violations, pictures, endless, atOnce);
}

/** What a run showed, in the words of the checks. */
export function observed(run: CompactionRun, words: string): Observation {
  const { end, agentRequests, summaryRequests, systemText, input } = run;
  const next = agentRequests.at(-1);
  const final = end.runs.at(-1)?.finalText;
  return {
    requests: [...agentRequests, ...summaryRequests],
    next,
    ...(systemText === '' ? {} : { systemText }),
    compactions: end.compactions,
    compactionBeforeNextRequest: madeRoom(end) && !end.requests.some(({ overflowed }) => overflowed),
    summaryItems: next === undefined ? 0 : summaryItems(next),
    historyUnchanged: end.checkpoints === 0,
    executed: end.executed,
    ended: end.runs.every(({ ended }) => ended),
    ...(final === undefined ? {} : { finalText: final }),
    window: windowOf(input),
    nextRequestTokens: end.requests.findLast(({ asked }) => !isSummarising(asked))?.asked.counted ?? 0,
    broken: run.broken.map((rule) => (rule.startsWith(words) ? rule : `${words}: ${rule}`)),
  };
}

/** Whether something was compacted, or cut before it was sent. */
function madeRoom({ compactions, items, imported }: SessionEnd): boolean {
  const results = items.slice(imported).flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
  return compactions > 0 || results.some(({ fullOutput }) => fullOutput !== undefined);
}

/** Pieces of text in a request that are a summary of what came before. */
function summaryItems(request: SeenRequest): number {
  const texts = messagesOf(request).flatMap(({ parts }) => parts.map(({ text }) => text));
  return texts.reduce((sum, text) => sum + text.split('Summary of the conversation so far:').length - 1, 0);
}

/** Screenshots, where the case only counts them. */
function compactionInput(input: Obj): Obj {
  if (typeof input.transcript_images !== 'number' || input.transcript !== undefined) return input;
  const image = { mediaType: 'image/png', base64_bytes: Math.ceil((Number(input.bytes_each) * 4) / 3) };
  const turns = Array.from({ length: input.transcript_images }, (_, at) => [
    { user: [{ text: `Screen ${at + 1}` }, { image }] },
    { assistant: `Seen ${at + 1}.` },
  ]);
  return { ...input, transcript: [...turns.flat(), { user: [{ text: 'What changed?' }] }] };
}
