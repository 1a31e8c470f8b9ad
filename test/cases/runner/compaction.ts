import { textTokens } from '../../../src/transcript/text-tokens.ts';
import { type Case, type Obj, str } from './case-file.ts';
import { maintenancePass, screenshots } from './compaction-pass.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf, requestOf } from './next-request.ts';
import type { Observation, SeenRequest } from './observation.ts';
import { parseTarget } from './target.ts';
import { buildTranscript } from './transcript.ts';
import { messagesOf } from './wire-reader.ts';

/** Keys of an input that need a summarising model, a clock or a second process: not pure. */
const IMPURE = [
  'event',
  'exchange',
  'summariser',
  'summariser_answers',
  'summariser_first_answer',
  'summariser_window',
  'rounds',
  'next_model_answer',
];
const TARGETS = ['openai-chat', 'anthropic', 'openai-responses'];

/** Why a compaction case cannot run yet, or nothing. Pure parts run; the rest needs the compaction activities. */
export function compactionGap({ input }: Case): string | undefined {
  const key =
    IMPURE.find((each) => input[each] !== undefined) ?? (typeof input.trigger === 'string' ? 'trigger' : undefined);
  return key === undefined ? undefined : `"${key}" needs the compaction activities`;
}

/** Runs what a compaction case asks of pure code: a token estimate, or a maintenance pass and the request after it. */
export async function runCompaction({ input, provider }: Case): Promise<Observation> {
  if (typeof input.text === 'string') {
    const text = str(input.text).repeat(typeof input.repeat === 'number' ? input.repeat : 1);
    return { tokens: textTokens(text, 'fitted') };
  }
  const named = TARGETS.find((target) => target === provider);
  const seen: Observation[] = [];
  for (const words of named === undefined ? TARGETS : [named]) seen.push(await passFor(words, input));
  const [first] = seen;
  return { ...first, broken: seen.flatMap((each) => each.broken ?? []) };
}

async function passFor(words: string, input: Obj): Promise<Observation> {
  const target = parseTarget(words);
  const lab = await openLab({ settings: input });
  try {
    const transcript = await buildTranscript(screenshots(input) ?? input.transcript, target, lab);
    const { view, asked, compactions } = maintenancePass(transcript, input);
    const tools = [...new Set(transcript.toolNames)].map((name) => ({
      name,
      description: 'A tool.',
      inputSchema: { type: 'object', properties: {} },
    }));
    const settings = { model: lab.model(target), system: transcript.systemTexts, tools };
    const request = bodyOf(lab, target, requestOf(view.items, settings), transcript.media);
    const system = transcript.systemTexts.join('\n\n');
    return {
      requests: [request],
      next: request,
      ...(system === '' ? {} : { systemText: system.trim() }),
      compactions,
      compactionBeforeNextRequest: asked,
      summaryItems: summaries(request),
      broken: brokenLaws(target, request).map((rule) => `${words}: ${rule}`),
    };
  } finally {
    await lab.close();
  }
}

function summaries(request: SeenRequest): number {
  return messagesOf(request).filter((message) =>
    message.parts.some((part) => part.text.startsWith('Summary of the conversation so far:')),
  ).length;
}
