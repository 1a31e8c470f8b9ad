import { jsonEnd } from '../call-arguments.ts';
import type { ToolNames } from '../tool-names.ts';
import type { Recovered, TextCall, TextCallForm } from './text-call-form.ts';

/** Old DeepSeek tokens: `<｜tool▁call▁begin｜>[function<｜tool▁sep｜>]name…{…}<｜tool▁call▁end｜>`. */
export const readDeepSeekTokens: TextCallForm['read'] = (text, names) =>
  readRow(text, names, {
    opening: /^<｜tool▁calls▁begin｜>/,
    call: /\s*<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([^\n<｜]+?)(?:<｜tool▁sep｜>|\s*```json\s*|\s*\n)([\s\S]*?)(?:```\s*)?<｜tool▁call▁end｜>/y,
    closing: /^\s*<｜tool▁calls▁end｜>/,
  });

/** Kimi: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`. */
export const readKimiTokens: TextCallForm['read'] = (text, names) =>
  readRow(text, names, {
    opening: /^<\|tool_calls_section_begin\|>/,
    call: /\s*<\|tool_call_begin\|>\s*([^<\s]+)\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>/y,
    closing: /^\s*<\|tool_calls_section_end\|>/,
  });

interface Row {
  readonly opening: RegExp;
  /** Sticky; groups: name and arguments. */
  readonly call: RegExp;
  readonly closing: RegExp;
}

/** Calls in a row, nothing between them: a call that stands further on in the text is somebody's example. */
function readRow(text: string, names: ToolNames, { opening, call, closing }: Row): Recovered {
  const calls: TextCall[] = [];
  let end = opening.exec(text)?.[0].length ?? 0;
  for (;;) {
    call.lastIndex = end;
    const match = call.exec(text);
    if (match === null) break;
    const [whole, name = '', args = ''] = match;
    if (!names.offers(name)) return null;
    calls.push({ name, arguments: args.trim() });
    end += whole.length;
  }
  return calls.length === 0 ? null : { calls, end: end + (closing.exec(text.slice(end))?.[0].length ?? 0) };
}

/** Harmony channels: `commentary to=functions.name … {…}`, special tokens kept or stripped. */
export function readHarmony(text: string, names: ToolNames): Recovered {
  const said =
    /^(?:<\|start\|>assistant)?<\|channel\|>(analysis|commentary|final)<\|message\|>([\s\S]*?)(?:<\|(?:end|return)\|>|(?=<\|start\|>)|$)/.exec(
      text,
    );
  if (said !== null) {
    const [whole, channel, words = ''] = said;
    return { calls: [], ...(channel === 'analysis' ? { reasoning: words } : { text: words }), end: whole.length };
  }
  const head = /^(?:<\|start\|>assistant)?(?:<\|channel\|>)?(?:commentary|analysis|final)?\s*to=([\w.:-]+)/.exec(text);
  const name = head?.[1];
  if (head === null || name === undefined || !names.offers(name)) return null;
  const brace = text.indexOf('{', head[0].length);
  const between = text.slice(head[0].length, brace < 0 ? text.length : brace);
  if (brace < 0 || !/^(?:\s|<\|[a-z]+\|>|commentary|analysis|json|code)*$/.test(between)) return null;
  const end = jsonEnd(text, brace);
  if (end === undefined) return { calls: [{ name, arguments: text.slice(brace) }], end: text.length };
  const tail = /^\s*(?:<\|(?:call|end|return)\|>)?/.exec(text.slice(end))?.[0].length ?? 0;
  return { calls: [{ name, arguments: text.slice(brace, end) }], end: end + tail };
}
