import type { ScriptedAnswer } from '../../fakes/caching/scripted.ts';
import {
  callsTool,
  faithful,
  forgetful,
  type Summariser,
  silent,
  smallWindow,
  thinksOnly,
} from '../../fakes/summarisers.ts';
import { isObj, type Obj, objs, str } from './case-file.ts';
import { asText, expand } from './notation.ts';
import { assistantText, reasoningText, type Step } from './notation-step.ts';

/** One turn that is driven anew: what the user says, and what the model answers in order. */
export interface ScriptedTurn {
  readonly user: unknown;
  readonly answers: readonly ScriptedAnswer[];
}

/** What a compaction case asks of the product, read from its notation. */
export interface CompactionScript {
  /** Steps of a session that is there already. */
  readonly history: readonly Step[];
  /** A summary that an earlier compaction made of the history. */
  readonly earlier?: string;
  /** Turns that are driven through the product; the last is the one that the case is about. */
  readonly turns: readonly ScriptedTurn[];
  /** What tools give, by the call's name and arguments (see {@link callKey}), in order. */
  readonly outputs: ReadonlyMap<string, readonly Output[]>;
  /** Names of all tools that are called anywhere. */
  readonly toolNames: readonly string[];
  /** Where a compaction that somebody asks for comes: before a step of the last turn, or when the session is idle. */
  readonly asked: { readonly at: 'idle' | number; readonly times: number };
  /** The case itself says that a compaction is asked for; else it is a further form of the case. */
  readonly mustAsk: boolean;
  /** Everything is closed and loaded anew after the last turn, and asked again. */
  readonly reload: boolean;
  readonly summariser: Summariser;
}

export type Output = { readonly text: string } | { readonly error: string };

/** Texts that fill a round of a case that only counts rounds. */
const FILLER = 'word ';

/** Reads the notation of a compaction case. */
export function compactionScript(input: Obj): CompactionScript {
  const { earlier, steps } = withoutSummary(stepsOf(input));
  const from = firstDriven(steps);
  const driven = turnsOf(steps.slice(from));
  const last = driven.at(-1);
  const words = wordsOf(input);
  const ended = last === undefined || endsInText(last);
  const turns = ended ? [...driven, { user: 'Go on.', answers: [] }] : driven;
  const scripted = turns.map((turn, at) => (at === turns.length - 1 ? withLater(turn, input) : turn));
  const calls = last === undefined || ended ? 0 : last.answers.filter((answer) => answer.calls !== undefined).length;
  return {
    history: steps.slice(0, from),
    ...(earlier === undefined ? {} : { earlier }),
    turns: scripted,
    outputs: outputsOf(steps, words),
    toolNames: [...new Set([...steps, ...objs(input.summariser_answers)].flatMap(callNames))],
    asked: {
      at: ended ? 'idle' : calls,
      times: /twice|two|at once|concurrent|parallel|while an? /i.test(words) ? 2 : 1,
    },
    mustAsk: words !== '' && /compact/i.test(words),
    reload: /reload|new process|load(?:ed)? (?:it )?(?:in|again)|restart/i.test(words),
    summariser: summariserOf(input),
  };
}

/** The key under which a tool finds what it is to give. */
export function callKey(name: string, args: unknown): string {
  return `${name} ${JSON.stringify(args)}`;
}

/** What happens, in words. */
function wordsOf({ event, trigger }: Obj): string {
  return [event, trigger].filter((value) => typeof value === 'string').join(' ');
}

/** The transcript; where a case gives only a first fact and a number of rounds, turns that fill the window each. */
function stepsOf(input: Obj): Step[] {
  const { rounds, first_fact: fact } = input;
  if (typeof rounds !== 'number') return objs(expand(input.transcript));
  const filler = FILLER.repeat(Math.floor(Number(input.window ?? 2000) / 4));
  const filled = Array.from({ length: rounds }, (_, round): Step[] => [
    { user: `${round === 0 && fact !== undefined ? asText(fact) : 'Go on.'} ${filler}` },
    { assistant: 'Noted.', driven: true },
  ]);
  return [...objs(expand(input.transcript)), ...filled.flat()];
}

/** A summary stands for what came before it: something long, that the product is to summarise so. What follows is driven. */
function withoutSummary(steps: readonly Step[]): { readonly earlier?: string; readonly steps: readonly Step[] } {
  const at = steps.findLastIndex((step) => step.summary !== undefined);
  if (at === -1) return { steps };
  const system = steps.filter((step) => step.system !== undefined);
  const before = [{ user: 'Begin.' }, { assistant: FILLER.repeat(400) }];
  const [next, ...rest] = steps.slice(at + 1).filter((step) => step.system === undefined);
  const first: Step = { ...(next?.user === undefined ? { user: 'Go on.' } : next), driven: true };
  const after = next === undefined ? [] : next.user === undefined ? [first, next, ...rest] : [first, ...rest];
  return { earlier: asText(steps[at]?.summary), steps: [...system, ...before, ...after] };
}

/**
 * Where the product takes over: at the last user message, or earlier at the first turn whose sizes the server reported.
 * What ends in an interruption, or was not closed, cannot be driven anew and stays history.
 */
function firstDriven(steps: readonly Step[]): number {
  const users = steps.flatMap((step, at) => (step.user === undefined ? [] : [at]));
  const marked = steps.findIndex((step) => isObj(step.usage) || step.driven === true);
  const wanted =
    marked === -1 ? (users.at(-1) ?? steps.length) : (users.findLast((at) => at <= marked) ?? steps.length);
  const broken = steps.findLastIndex((step) => step.interrupt === true || step.process_killed === true);
  return users.find((at) => at >= wanted && at > broken) ?? steps.length;
}

function turnsOf(steps: readonly Step[]): ScriptedTurn[] {
  const turns: { user: unknown; answers: ScriptedAnswer[] }[] = [];
  for (const step of steps) {
    if (step.user !== undefined) turns.push({ user: step.user, answers: [] });
    else if (step.results === undefined && step.system === undefined)
      addAnswer(turns.at(-1)?.answers ?? [], answerOf(step));
  }
  return turns;
}

/** A text without calls would end the run: what the model goes on to do stands in the same answer then. */
function addAnswer(answers: ScriptedAnswer[], answer: ScriptedAnswer): void {
  const before = answers.at(-1);
  if (before === undefined || before.calls !== undefined) answers.push(answer);
  else answers.splice(-1, 1, { ...before, ...answer, text: [before.text, answer.text].filter(Boolean).join('\n') });
}

function answerOf(step: Step): ScriptedAnswer {
  const calls = objs(step.calls).map(({ name, args, args_raw: raw }) => ({
    name: str(name),
    args: raw === undefined ? (args ?? {}) : parsed(str(raw)),
  }));
  const usage = isObj(step.usage)
    ? { usage: { input: Number(step.usage.input ?? 0), output: Number(step.usage.output ?? 0) } }
    : {};
  return {
    ...(isObj(step.reasoning) ? { reasoning: reasoningText(step.reasoning) } : {}),
    ...(step.assistant === undefined ? {} : { text: assistantText(step) }),
    ...(calls.length === 0 ? {} : { calls }),
    ...usage,
  };
}

function endsInText({ answers }: ScriptedTurn): boolean {
  const last = answers.at(-1);
  return last !== undefined && last.calls === undefined;
}

/** What the model says after the transcript: the recorded exchange, or the next answer. */
function withLater(turn: ScriptedTurn, input: Obj): ScriptedTurn {
  const exchange = objs(input.exchange).map(recordedAnswer);
  const next = input.next_model_answer === undefined ? [] : [recordedAnswer(asAnswer(input.next_model_answer))];
  return { ...turn, answers: [...turn.answers, ...exchange, ...next] };
}

function asAnswer(value: unknown): Obj {
  return isObj(value) && value.$repeat === undefined ? value : { text: asText(value) };
}

/** A model's answer in the notation of `exchange` and `summariser_answers`. */
function recordedAnswer(entry: Obj): ScriptedAnswer {
  if (typeof entry.status === 'number' && entry.status >= 400) return { status: entry.status, body: entry.body };
  return {
    ...answerOf({ ...entry, assistant: entry.text ?? entry.assistant }),
    ...(entry.text === undefined && entry.assistant === undefined ? { text: '' } : {}),
    ...(entry.finish === 'length' ? { cut: true } : {}),
  };
}

function summariserOf(input: Obj): Summariser {
  const window = typeof input.summariser_window === 'number' ? input.summariser_window : undefined;
  const base = describedSummariser(input.summariser);
  const inner = window === undefined ? base : smallWindow(window, base);
  const { summariser_answers: answers, summariser_first_answer: first } = input;
  const given = Array.isArray(answers) ? answers : first === undefined ? [] : [first];
  const queue = given.map((value) => recordedAnswer(asAnswer(value)));
  let at = 0;
  return (asked) => {
    const answer = queue[at] ?? (Array.isArray(answers) ? queue.at(-1) : undefined);
    at += 1;
    return answer ?? inner(asked);
  };
}

/** A summariser told of in words, or by what it always answers. */
function describedSummariser(value: unknown): Summariser {
  if (isObj(value)) return () => recordedAnswer(value);
  const words = str(value);
  if (/drop|forget|lose/i.test(words)) return forgetful(0.5, 1);
  if (/nothing|empty|silent/i.test(words)) return silent;
  if (/think|reason/i.test(words)) return thinksOnly;
  return /\bcalls? (?:a )?tool/i.test(words) ? callsTool('read_file', {}) : faithful();
}

function callNames(step: Obj): string[] {
  return objs(step.calls).map(({ name }) => str(name));
}

/** Results of the transcript by call, and those that arrive later, as the words tell of them: `{id:c9, output:'ok'}`. */
function outputsOf(steps: readonly Step[], words: string): Map<string, Output[]> {
  const outputs = new Map<string, Output[]>();
  const open = new Map<string, string>();
  const give = (key: string, output: Output): void => void outputs.set(key, [...(outputs.get(key) ?? []), output]);
  for (const step of steps) {
    for (const { id, name, args } of objs(step.calls)) open.set(str(id), callKey(str(name), args ?? {}));
    for (const { id, output, error } of objs(step.results)) {
      const key = open.get(str(id));
      open.delete(str(id));
      if (key !== undefined) give(key, error === undefined ? { text: asText(output) } : { error: asText(error) });
    }
  }
  const later = /output:?\s*['"]([^'"]*)['"]/.exec(words)?.[1] ?? 'ok';
  for (const key of open.values()) give(key, { text: later });
  return outputs;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
