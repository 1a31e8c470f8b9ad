import type { ToolNames } from '../tool-names.ts';
import { type CodeTracker, createCodeTracker } from './code-tracker.ts';
import type { TextCall, TextCallForm } from './text-call-form.ts';
import { TEXT_CALL_FORMS } from './text-calls.ts';

export type Segment =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly call: TextCall };

/** Sorts the text of one answer into what people read, thinking in `<think>` tags, and calls that leaked into the text. */
export interface TextFilter {
  push(text: string): readonly Segment[];
  /** Everything that was held back. */
  end(): readonly Segment[];
}

export interface FilterOptions {
  readonly names: ToolNames;
  readonly textCalls: boolean;
  readonly thinkTags: boolean;
}

const THINK = '<think>';
const THINK_END = '</think>';
/** From this many characters on a form that is still possible stays so. */
const SURE_AFTER = 64;

/**
 * Where markup may begin, text is held back until it is clear that none does; from an opener on, to the end of the answer.
 * Inside code fences and inline code nothing is markup. What turns out to be no call of an offered tool is text after all.
 */
export function createTextFilter({ names, textCalls, thinkTags }: FilterOptions): TextFilter {
  const code = createCodeTracker();
  /** `start`: nothing but white space was said. `markup`: `held` begins with the opener of `form`. */
  let mode: 'start' | 'text' | 'think' | 'markup' = 'start';
  let held = '';
  let form: TextCallForm | undefined;
  let out: Segment[] = [];

  const release = (length: number): void => {
    if (length === 0) return;
    const text = held.slice(0, length);
    held = held.slice(length);
    code.read(text);
    out.push({ type: 'text', text });
  };

  const readStart = (last: boolean): void => {
    const body = held.trimStart();
    if (thinkTags && body.startsWith(THINK)) {
      held = body.slice(THINK.length);
      mode = 'think';
    } else if (thinkTags && endsThinking(body)) {
      held = body;
      mode = 'think';
    } else if (last || (body !== '' && !(thinkTags && THINK.startsWith(body)))) {
      release(held.length - body.length);
      readText(last, true);
    }
  };

  const readText = (last: boolean, atStart: boolean): void => {
    const found = textCalls ? findOpener(held, code.clone(), { atStart, last }) : undefined;
    // An opener cut at the very start still counts as one at the start.
    if (found?.at === 0 && found.form === undefined) return;
    mode = 'text';
    release(found?.at ?? held.length);
    form = found?.form;
    if (form !== undefined) mode = 'markup';
  };

  const readThinking = (last: boolean): void => {
    const end = held.indexOf(THINK_END);
    const sure = end >= 0 ? end : held.length - (last ? 0 : partialTail(held, THINK_END));
    if (sure > 0) out.push({ type: 'reasoning', text: held.slice(0, sure) });
    held = held.slice(sure);
    if (end < 0) return;
    held = held.slice(THINK_END.length).trimStart();
    mode = 'start';
  };

  const readMarkup = (last: boolean): void => {
    if (form === undefined) return;
    if (last) recover(form);
    else if (form.possible?.(held) === false) {
      mode = 'text';
      release(held.length);
    }
  };

  const recover = (current: TextCallForm): void => {
    mode = 'text';
    const recovered = current.read(held, names);
    if (recovered === null || recovered.end === 0) {
      release(current.opener.length);
      return;
    }
    held = held.slice(recovered.end);
    if (recovered.reasoning) out.push({ type: 'reasoning', text: recovered.reasoning });
    if (recovered.text) out.push({ type: 'text', text: recovered.text });
    for (const call of recovered.calls) out.push({ type: 'call', call });
  };

  /** One round: reads on in the present mode as far as it can. */
  const round = (last: boolean): void => {
    if (mode === 'start') readStart(last);
    else if (mode === 'text') readText(last, false);
    else if (mode === 'think') readThinking(last);
    else readMarkup(last);
  };

  const run = (last: boolean): readonly Segment[] => {
    out = [];
    let before: string;
    do {
      before = `${mode}${held.length}`;
      round(last);
    } while (held !== '' && before !== `${mode}${held.length}`);
    return out;
  };

  return {
    push(text) {
      if (mode === 'text' && held === '' && !/[<[]/.test(text)) {
        code.read(text);
        return [{ type: 'text', text }];
      }
      held += text;
      return mode === 'markup' && (form?.possible === undefined || held.length > SURE_AFTER) ? [] : run(false);
    },
    end: () => run(true),
  };
}

/** Whether a text begins within thinking whose opening tag stood in the prompt. Only seen where the text comes in one piece. */
function endsThinking(text: string): boolean {
  const end = text.indexOf(THINK_END);
  return end > 0 && !text.slice(0, end).includes(THINK) && text.charAt(end - 1) !== '`';
}

interface Opener {
  readonly at: number;
  /** Absent: the text ends within what may become an opener. */
  readonly form?: TextCallForm;
}

/** The first opener outside code. `code` is read forward: hand over a copy. */
function findOpener(
  text: string,
  code: CodeTracker,
  { atStart, last }: { readonly atStart: boolean; readonly last: boolean },
): Opener | undefined {
  let read = 0;
  for (let at = 0; at < text.length; at += 1) {
    const first = at === 0 && atStart;
    const char = text.charAt(at);
    if (!first && char !== '<' && char !== '[') continue;
    code.read(text.slice(read, at));
    read = at;
    if (code.inside()) continue;
    const forms = TEXT_CALL_FORMS.filter((form) => first || form.startOnly !== true);
    const whole = forms.find((form) => text.startsWith(form.opener, at));
    if (whole !== undefined) return { at, form: whole };
    if (!last && forms.some((form) => form.opener.startsWith(text.slice(at)))) return { at };
  }
  return undefined;
}

/** Length of the longest tail of `text` that begins `word` without being it. */
function partialTail(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length -= 1) {
    if (word.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
