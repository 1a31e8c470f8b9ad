import { isObj, type Obj, objs, str } from './case-file.ts';
import { asText } from './notation.ts';

/** One model answer of a transcript: the keys that stood in one item. */
export type Step = Obj;

/** Text of `assistant`, which may be a string, a repeat, or `{ text, item_id }`. */
export function assistantText(step: Step): string {
  const { assistant } = step;
  return isObj(assistant) && assistant.$repeat === undefined ? asText(assistant.text) : asText(assistant);
}

/** Arguments of a call as text, as the server sent them. */
export function rawArguments(call: Obj): string {
  return call.args_raw === undefined ? JSON.stringify(call.args ?? {}) : str(call.args_raw);
}

/** Text of reasoning; one whose text was cleared later had some when it came. */
export function reasoningText(reasoning: Obj): string {
  return reasoning.text_was_cleared === true ? 'Thinking that was cleared later.' : asText(reasoning.text);
}

/** Items of tools that the provider ran, in its own form. */
export function providerItems(step: Step): Obj[] {
  const { provider_call: call } = step;
  return (Array.isArray(call) ? objs(call) : isObj(call) ? [call] : []).map((entry) =>
    isObj(entry.item) ? entry.item : entry,
  );
}
