import { decode } from 'gpt-tokenizer/encoding/o200k_base';
import { tokensOf } from './prompt-blocks.ts';

/** What the model behind the fake says to one request. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
  /** Says that the output limit cut it, although it did not. */
  readonly cut?: boolean;
  /** Goes out whole, whatever limit the request names. */
  readonly unlimited?: boolean;
  /** Reported instead of what was counted. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** An HTTP error instead. */
  readonly status?: number;
  readonly body?: unknown;
  /** Keeps the connection open after the text and says nothing more. */
  readonly hang?: boolean;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
}

/** An answer after the server's output limit: what of it goes out, its tokens, and whether it was cut. */
export interface LimitedAnswer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly reasoningTokens: number;
  readonly outputTokens: number;
  readonly cut: boolean;
}

/** Reasoning is written first and eats the limit; text gets the rest; calls that no longer fit are left out. */
export function limited(answer: ScriptedAnswer, maxOutput: number | undefined): LimitedAnswer {
  let room = answer.unlimited === true || maxOutput === undefined ? Number.POSITIVE_INFINITY : maxOutput;
  const take = (text: string): { text: string; tokens: number; cut: boolean } => {
    const tokens = tokensOf(text);
    const cut = tokens.length > room;
    const taken = cut ? tokens.slice(0, room) : tokens;
    room -= taken.length;
    return { text: cut ? decode(taken) : text, tokens: taken.length, cut };
  };
  const reasoning = take(answer.reasoning ?? '');
  const text = take(answer.text ?? '');
  const calls = (answer.calls ?? []).filter((call) => !take(JSON.stringify(call)).cut);
  const callTokens = calls.reduce((sum, call) => sum + tokensOf(JSON.stringify(call)).length, 0);
  return {
    reasoning: reasoning.text,
    text: text.text,
    calls,
    reasoningTokens: reasoning.tokens,
    outputTokens: answer.usage?.output ?? reasoning.tokens + text.tokens + callTokens,
    cut: answer.cut === true || reasoning.cut || text.cut || calls.length < (answer.calls?.length ?? 0),
  };
}
