import { numberPair } from './overflow-numbers.ts';

/** Codes, types and status words that say by themselves that the input does not fit the window. Lower case. */
export const OVERFLOW_WORDS: ReadonlySet<string> = new Set([
  'context_length_exceeded', // OpenAI, Azure, Groq, Cerebras
  'model_max_prompt_tokens_exceeded', // Copilot
  'exceed_context_size_error', // llama.cpp
  'tokens_limit_reached', // GitHub Models, with status 413
  'context_window_exceeded',
  'model_context_window_exceeded',
  'contextwindowexceedederror', // LiteLLM
  'context_length_error',
  'prompt_too_long',
  '1261', // Zhipu
  '1039', // MiniMax
]);

/** Sentences for the same, by what the vendors write. None may match a text about a rate or about `max_tokens` alone. */
export const OVERFLOW_PHRASES: readonly RegExp[] = [
  /maximum context length/i, // OpenAI, DeepSeek, vLLM, OpenRouter, GLM, SGLang
  /context length exceeded|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:maximum )?context (?:length|window|size|limit)/i,
  /exceeds? the (?:available )?context (?:size|window|length)/i, // llama.cpp, OpenAI Responses
  /context (?:size|window|length) (?:has been |was |is )?exceed/i, // llama.cpp, MiniMax
  /(?:greater|longer|larger) than the (?:model'?s |maximum )?context (?:length|window|size)/i, // LM Studio, Together
  /when context the overflows|context (?:the )?overflow/i, // LM Studio
  /prompt (?:is )?too long|prompt has too many tokens/i, // Anthropic, Fireworks, Ollama, AI21
  /exceed(?:s|ed)? (?:the )?max(?:imum)? context length/i, // Ollama
  /`?max_tokens`? exceed context limit/i, // Anthropic: input length and `max_tokens`
  /(?:input|prompt) (?:is )?too long for (?:the )?(?:requested )?model/i, // Bedrock
  /input is too long\b|input (?:content|text) (?:is )?too long/i,
  /(?:model|input|prompt) token limit: ?\d/i, // Moonshot
  /range of input length should be/i, // DashScope
  /input length \(?\d+\)? exceeds/i, // GLM, hubs
  /input length (?:of )?\d+ (?:tokens )?exceeds|requested input length \d+ exceeds/i, // DeepInfra
  /too large for model with \d+ maximum context/i, // Mistral
  /maximum prompt length is \d+/i, // xAI
  /prompt token count of \d+ exceeds/i, // Copilot
  /exceeds max_seq_len/i, // TensorRT, MLX
  /input token count (?:\(\d+\) )?exceeds the maximum/i, // Gemini
  /input tokens? (?:count )?exceed(?:s|ed)?/i, // Nova, Vertex
  /(?:number of )?input tokens exceeds (?:the )?max/i,
  /input token count is \d+ but model only supports/i, // Vertex
  /too many input tokens/i, // Bedrock
  /total number of tokens in the prompt cannot exceed/i, // Cohere
  /`?inputs`? (?:tokens \+ `max_new_tokens` must be|must have less than)/i, // TGI
  /total tokens of (?:image and text|.{0,20}) exceed max message tokens/i, // Volcengine
  /request body too large for .+ max size: \d+ tokens/i, // GitHub Models
  /messages? (?:is|are) too long for (?:the )?(?:model|context)/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /(?:prompt|input|messages?|conversation) (?:is |are )?(?:too large|too big) for (?:the|this) (?:model|context)/i,
  /上下文(?:长度|窗口|大小)?.{0,12}(?:超|过长|太长)|(?:超出|超过|超).{0,16}上下文/,
  /(?:输入|提示词?|prompt|消息|token ?数?量?).{0,12}(?:超长|过长|太长|超过.{0,12}(?:最大|上限|限制)|超出.{0,12}(?:最大|上限|限制|长度))/i,
  /超過.{0,12}上下文|上下文.{0,12}超過/,
  /コンテキスト(?:長|ウィンドウ|サイズ)?.{0,16}(?:超え|超過|上限)|(?:入力|プロンプト).{0,8}長すぎ|最大コンテキスト/,
  /컨텍스트.{0,16}(?:초과|넘)|(?:입력|프롬프트).{0,12}(?:너무 길|초과)/,
  /(?:превыша|превышен|превысил).{0,40}контекст|контекст.{0,40}превы|(?:запрос|ввод|промпт).{0,12}слишком длинн/i,
  /kontext(?:länge|fenster|größe).{0,40}(?:überschr|überst)|überschr.{0,60}kontext/i,
  /(?:dépass|excéd).{0,60}contexte|contexte.{0,40}dépass/i,
  /(?:excede|supera|sobrepasa|ultrapassa|excedeu|excedido).{0,60}contexto|contexto.{0,40}(?:excedid|superad|ultrapassad)/i,
  /(?:supera|eccede).{0,60}contesto/i,
];

const ABOUT_SIZE =
  /exceed|too (?:long|many|large|big)|maximum|limit|(?:longer|larger|more|greater) than|supports? (?:only |at most )?up to|at most/i;
const ABOUT_OTHER =
  /max_(?:completion_|new_|output_)?tokens|(?:output|completion) tokens|per (?:min|sec|hour|day)|\btp[md]\b|\brate\b|\bbytes?\b/i;

/** Whether a sentence nobody has seen yet says that so many tokens are more than so many: two numbers, and nothing of output, rates or bytes. */
export function comparesTokens(message: string): boolean {
  if (!/\btokens?\b/i.test(message) || !ABOUT_SIZE.test(message) || ABOUT_OTHER.test(message)) return false;
  const { limit, requested } = numberPair(message);
  return limit !== undefined && requested !== undefined && requested > limit;
}

/** Sentences about the output limit alone: lowering it mends them, compacting does not. */
export const OUTPUT_LIMIT_PHRASES: readonly RegExp[] = [
  /max_(?:completion_|new_|output_)?tokens\b.{0,40}(?:too large|must be|should be|at most|less than|valid range)/i,
  /range of `?max_(?:completion_|output_)?tokens`? (?:is|should be)/i,
  /supports at most \d+ (?:completion|output) tokens/i,
  /max(?:imum)?[ _]output[ _]?tokens?.{0,40}(?:exceed|too large|must be)/i,
];

/** OpenAI's sentence about one field of the request that holds a name or an id. */
export const FIELD_TOO_LONG: RegExp = /invalid '[^']*\b(?:name|id|call_id|key|user|metadata)\b[^']*': string too long/i;

/** Words and sentences about bytes and media: compacting by tokens does not help, dropping media does. */
export const BYTES_WORDS: ReadonlySet<string> = new Set([
  'request_too_large',
  'request_entity_too_large',
  'payload_too_large',
  'string_above_max_length',
  'image_too_large',
]);

export const BYTES_PHRASES: readonly RegExp[] = [
  /total message size \d+ exceeds/i, // Moonshot
  /request (?:exceeds the maximum size|size exceeds|entity too large|body (?:is )?too large|too large\b.*bytes)/i,
  /(?:payload|content) (?:is )?too large|exceeds? the maximum (?:request|payload|body) size/i,
  /image (?:exceeds|size exceeds|is too large)|image dimensions exceed|too (?:many|much) (?:images|media|image data)/i,
  /maximum length \d+, but got a string with length/i,
  /exceeds? .{0,24}\d+ ?(?:bytes|[kmg]i?b)\b/i,
];
