import type { TextCallForm } from './text-call-form.ts';
import { mayBeBareCall, readBareJson, readJsonAfter, readMistral } from './text-call-json.ts';
import { readFunctionTag, readInvokes, readTagged } from './text-call-tags.ts';
import { readDeepSeekTokens, readHarmony, readKimiTokens } from './text-call-tokens.ts';

const DSML = readInvokes(/^<(?:tool_calls|function_calls)>/, /^\s*<\/(?:tool_calls|function_calls)>/);

/**
 * Forms in which models leak calls into their text, with the reader of each. A form's reader gets the text from the opener
 * on. Forms that end with the text where their closing tag is missing still count when what is there is whole.
 */
export const TEXT_CALL_FORMS: readonly TextCallForm[] = [
  { opener: '<tool_call>', read: readTagged('<tool_call>', '</tool_call>') }, // Hermes, Qwen, GLM
  { opener: '<function=', read: readFunctionTag }, // Qwen-coder, Llama 3.1
  { opener: '<｜DSML｜', read: DSML }, // DeepSeek V3.2
  { opener: '<|DSML|', read: DSML },
  { opener: '<｜tool▁call', read: readDeepSeekTokens }, // DeepSeek V3, R1
  { opener: '<|tool_call', read: readKimiTokens }, // Kimi K2
  { opener: '<function_calls>', read: readInvokes(/^<function_calls>/, /^\s*<\/function_calls>/) },
  { opener: '<invoke name=', read: readInvokes(/^/, /^/) },
  { opener: '<minimax:tool_call>', read: readInvokes(/^<minimax:tool_call>/, /^\s*<\/minimax:tool_call>/) },
  { opener: '<|channel|>', read: readHarmony }, // gpt-oss
  { opener: '<|start|>assistant', read: readHarmony },
  { opener: 'commentary to=', startOnly: true, read: readHarmony }, // the same, special tokens stripped
  { opener: '<|python_tag|>', read: readJsonAfter('<|python_tag|>') }, // Llama 3
  { opener: '[TOOL_CALLS]', read: readMistral },
  { opener: '{', startOnly: true, possible: mayBeBareCall, read: readBareJson }, // small local models
];
