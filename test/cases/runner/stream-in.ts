import { windowBudget } from '../../../src/transcript/budget.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { agentRun } from './agent-run.ts';
import { callOnce, type Known } from './call-once.ts';
import { type Case, isObj, type Obj, objs, str } from './case-file.ts';
import { knownOf, modelOf, recorded } from './case-input.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { answered, bodyOf, builtinTools, requestOf, toolSpecs, USER } from './next-request.ts';
import type { Observation } from './observation.ts';
import type { Answer } from './replay-server.ts';
import { type Target, targetOfApi } from './target.ts';

/** Keys of a check that speak of a whole run and not of one answer. */
const ABOUT_RUNS = [
  'executed',
  'executed_args',
  'executed_count',
  'results',
  'all_errors',
  'final_text',
  'final_text_ends_with',
  'requests',
  'max_requests',
  'bounded',
  'run_continues',
  'unhandled_rejections',
];

/**
 * Replays a recorded answer to the vendor's real client: one call through the provider, and the whole run through the
 * activities where the check speaks of one. Forms that the case gives beside the first are run too and must pass alike.
 */
export async function runAnswerIn(one: Case): Promise<Observation> {
  const { input } = one;
  if (Array.isArray(input.variants)) {
    const variants = await Promise.all(
      objs(input.variants).map((variant) => observe(one, recorded(variantInput(input, variant)))),
    );
    return { variants };
  }
  const answers = recorded(input);
  const seen = await observe(one, answers);
  return { ...seen, ...(await alsoRun(one, answers)) };
}

/** Further forms of the same answer, told in words or bytes; each must be seen like the first. */
async function alsoRun(one: Case, answers: readonly Answer[]): Promise<{ readonly sameAs?: readonly Observation[] }> {
  const { input } = one;
  const forms: (readonly Answer[])[] = [];
  if (/one byte|byte per chunk|byte by byte/i.test(str(input.also)))
    forms.push(answers.map((answer) => ({ ...answer, chunkBytes: 1 })));
  if (typeof input.variant_body === 'string')
    forms.push(answers.map((answer) => ({ ...answer, http: { ...answer.http, body: input.variant_body } })));
  if (typeof input.variant_content === 'string') forms.push([spoken(input.variant_content)]);
  return forms.length === 0 ? {} : { sameAs: await Promise.all(forms.map((form) => observe(one, form))) };
}

async function observe(one: Case, answers: readonly Answer[]): Promise<Observation> {
  const target = targetOfApi(str(one.input.api, 'chat'), one.provider);
  const wantsRun = ABOUT_RUNS.some((key) => mentions(one.check, key));
  const answer = await observeCall(one.input, target, answers);
  if (!wantsRun) return answer;
  const run = await agentRun(one.input, target, answers);
  // What follows the answer is the request that the run itself made, if it made one.
  return { ...answer, ...run, next: (run.requests?.length ?? 0) > 1 ? undefined : answer.next };
}

function mentions(check: unknown, key: string): boolean {
  if (Array.isArray(check)) return check.some((inner) => mentions(inner, key));
  return isObj(check) && (key in check || mentions(check.variants, key) || mentions(check.one_of, key));
}

async function observeCall(input: Obj, target: Target, answers: readonly Answer[]): Promise<Observation> {
  const tools = toolSpecs(input.tools);
  const lab = await openLab({
    model: modelOf(input),
    settings: input,
    hangs: answers.some((answer) => answer.end === 'hang'),
    builtinTools: builtinTools(input.tools, target) as JsonObject[],
  });
  try {
    lab.give(answers.slice(0, 1));
    const settings = {
      model: lab.model(target),
      tools,
      ...(input.thinking_enabled === true ? { thinking: { effort: 'low' } as const } : {}),
    };
    const known = knownOf(input);
    const { seen, items } = await callOnce(lab, target, requestOf([USER], settings), known);
    const requests = lab.requests(target);
    const next = bodyOf(lab, target, requestOf([USER, ...answered(items), USER], settings));
    const broken = [
      ...requests.flatMap((request) => brokenLaws(target, request)),
      ...brokenLaws(target, next).map((rule) => `next request: ${rule}`),
    ];
    return {
      ...seen,
      requests,
      next: bodyOf(lab, target, requestOf([USER, ...answered(items)], settings)),
      broken,
      ...compacts(seen, known),
    };
  } finally {
    await lab.close();
  }
}

/** Whether the usage that this answer reported makes the next request compact first. */
function compacts({ usage }: Observation, { window }: Known): Observation {
  if (window === undefined || usage === undefined || usage === null) return {};
  return {
    compactionBeforeNextRequest: (usage.input ?? 0) + (usage.output ?? 0) > windowBudget({ window }).hardThreshold,
  };
}

/** A variant has the keys of an `http`, or of an input. */
function variantInput(input: Obj, variant: Obj): Obj {
  return 'http' in variant || 'exchange' in variant ? { ...input, ...variant } : { ...input, http: variant };
}

/** A streamed chat answer that says this text. */
function spoken(content: string): Answer {
  const chunk = (delta: Obj, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'test-model', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = `${chunk({ role: 'assistant', content }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
  return { http: { status: 200, headers: { 'content-type': 'text/event-stream' }, body }, end: 'close' };
}
