import type { MessageRequest, ToolSpec } from '../../../src/transcript/message.ts';
import { normalize } from '../../../src/transcript/normalize.ts';
import { validate } from '../../../src/transcript/validate.ts';
import { type Case, type Obj, str } from './case-file.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf, requestOf, toolSpecs, USER } from './next-request.ts';
import type { Observation, SeenRequest } from './observation.ts';
import { parseTarget, type Target } from './target.ts';
import { type BuiltTranscript, buildTranscript } from './transcript.ts';

/** The request that one target gets for a case's transcript. */
export interface Built {
  readonly target: Target;
  readonly request: SeenRequest;
  readonly transcript: BuiltTranscript;
  readonly broken: readonly string[];
}

/**
 * Builds the request for the case's target and for every further one, through `normalize` and the provider's own `toWire`.
 * Whatever a check asks, each must keep the rules of its wire format, be the same when built again, and stay legal when
 * the user speaks once more.
 */
export async function runTranscriptIn({ input }: Case): Promise<Observation> {
  const built = await buildFor(str(input.target, 'openai-chat'), input);
  const others = await Promise.all(
    (Array.isArray(input.also_run_for) ? input.also_run_for : []).map((words) => buildFor(String(words), input)),
  );
  return {
    requests: [built.request],
    userTexts: built.transcript.userTexts,
    systemText: built.transcript.systemTexts.join('\n\n'),
    broken: [built, ...others].flatMap((each) => each.broken.map((rule) => `${each.target.dialect}: ${rule}`)),
  };
}

export async function buildFor(words: string, input: Obj): Promise<Built> {
  const target = parseTarget(words, input);
  const model = typeof input.model === 'string' ? input.model : undefined;
  const lab = await openLab({ model, settings: input });
  try {
    const transcript = await buildTranscript(input.transcript, target, lab);
    const tools = input.tools === undefined ? declared(transcript.toolNames) : toolSpecs(input.tools);
    const settings = { model: lab.model(target), system: transcript.systemTexts, tools, thinking: thinkingOf(input) };
    const body = (items: BuiltTranscript['items']): SeenRequest =>
      bodyOf(lab, target, requestOf(items, settings), transcript.media);
    const request = body(transcript.items);
    const normal = normalize(transcript.items).items;
    const again = body(normal);
    const broken = [
      ...validate(normal, { tail: 'closed' }).map((violation) => `the normalised transcript: ${violation.message}`),
      ...brokenLaws(target, request),
      ...(JSON.stringify(again) === JSON.stringify(request)
        ? []
        : ['a request built again from the mended transcript differs']),
      ...brokenLaws(target, body([...transcript.items, USER])).map((rule) => `one turn later: ${rule}`),
    ];
    return { target, request, transcript, broken };
  } finally {
    await lab.close();
  }
}

/** Tools for the calls of a transcript that names none: a server must not refuse it for that. */
function declared(names: readonly string[]): ToolSpec[] {
  return [...new Set(names)].map((name) => ({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object', properties: {} },
  }));
}

function thinkingOf(input: Obj): MessageRequest['thinking'] {
  if (input.thinking === 'disabled' || input.thinking_enabled === false) return 'off';
  return input.thinking === 'enabled' || input.thinking_enabled === true ? { effort: 'low' } : undefined;
}
