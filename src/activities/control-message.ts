import type { ControlMessage } from '../contract/activities.ts';
import { correction, readStructured } from '../providers/structured-output.ts';
import type { OutputSchema } from '../tools/output-schema.ts';
import { assertNever } from '../transcript/assert-never.ts';
import type { UserMessage } from '../transcript/items.ts';
import { headOf } from '../transcript/well-formed.ts';

/** Sent once when a final text promises action and makes no call. */
export const NUDGE_TEXT =
  'You said what you will do but made no tool call. If the task is not finished, make the call now; if it is, give the final answer.';

/** Sent once when the output limit cut a call, which was therefore not run. */
export const CUT_CALL_TEXT =
  'Your tool call was cut off by the output limit and was not run. Make it again with shorter arguments, or in several smaller calls.';

/** Sent when the model has made the same call with the same result three times in a row. */
export const LOOP_TEXT =
  'You have made the same tool call three times and got the same result each time. Do not make it again: do something else, or say what stands in the way.';

/** A message that the model sees and people do not. `said` is the answer that gave rise to it. */
export function controlItem(control: ControlMessage, said: string, output: OutputSchema | undefined): UserMessage {
  return hiddenMessage(textOf(control, said, output));
}

/** A text that the model sees and people do not. */
export function hiddenMessage(text: string): UserMessage {
  return { kind: 'user_message', schemaVersion: 1, origin: 'control', content: [{ type: 'text', text }] };
}

/** The beginning of a text that may be long. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${headOf(text, maxChars)}\n[…]`;
}

function textOf(control: ControlMessage, said: string, output: OutputSchema | undefined): string {
  switch (control) {
    case 'promise':
      return NUDGE_TEXT;
    case 'output': {
      const reading = readStructured(said, output?.check ?? (() => undefined));
      return correction(reading.ok ? 'It was not read.' : reading.problem);
    }
    case 'cut_call':
      return CUT_CALL_TEXT;
    case 'loop':
      return LOOP_TEXT;
    default:
      return assertNever(control, 'control message');
  }
}
