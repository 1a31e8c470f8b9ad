import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import type { OverflowNumbers, ProviderErrorCode, Remedy } from '../../../src/providers/errors.ts';

interface Shape {
  readonly from: string;
  readonly status?: number;
  readonly body: unknown;
  readonly code?: ProviderErrorCode;
  readonly numbers?: OverflowNumbers;
  readonly remedy?: Remedy;
}

const error = (message: string, extra: Record<string, unknown> = {}): unknown => ({
  error: { message, type: 'invalid_request_error', ...extra },
});

const OVERFLOWS: readonly Shape[] = [
  {
    from: 'OpenAI, messages',
    body: error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
      {
        code: 'context_length_exceeded',
      },
    ),
    numbers: { limit: 128000, requested: 204308 },
  },
  {
    from: 'OpenAI, output too large',
    body: error(
      "This model's maximum context length is 128000 tokens. However, you requested 1124171 tokens (124171 in the messages, 1000000 in the completion).",
      { code: 'context_length_exceeded' },
    ),
    numbers: { limit: 128000, requested: 1124171, input: 124171, output: 1000000 },
    remedy: 'lower_output',
  },
  {
    from: 'OpenAI, functions counted apart',
    body: error(
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (4000 in the messages, 1000 in the functions, and 4000 in the completion).",
    ),
    numbers: { limit: 8192, requested: 9000, input: 5000, output: 4000 },
    remedy: 'lower_output',
  },
  {
    from: 'OpenAI Responses',
    body: error('Your input exceeds the context window of this model.', { code: 'context_length_exceeded' }),
  },
  {
    from: 'Anthropic',
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 209353 tokens > 199999 maximum' },
    },
    numbers: { limit: 199999, requested: 209353 },
  },
  {
    from: 'Anthropic, with max_tokens',
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
      },
    },
    numbers: { input: 188240, output: 21333, limit: 200000, requested: 209573 },
    remedy: 'lower_output',
  },
  {
    from: 'Gemini, in a list',
    body: [
      {
        error: {
          code: 400,
          message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    numbers: { limit: 1048576, requested: 1196265 },
  },
  {
    from: 'llama.cpp, numbers in fields',
    body: {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 17031,
        n_ctx: 16384,
      },
    },
    numbers: { limit: 16384, requested: 17031 },
  },
  {
    from: 'llama.cpp, old',
    status: 500,
    body: { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
  },
  {
    from: 'llama.cpp, numbers in text',
    body: error('request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it'),
    numbers: { limit: 8192, requested: 9000 },
  },
  {
    from: 'Ollama',
    body: { error: 'prompt too long; exceeded max context length by 4 tokens' },
  },
  {
    from: 'LM Studio',
    body: {
      error:
        'Trying to keep the first 14538 tokens when context the overflows. However, the model is loaded with context length of only 2048 tokens, which is not enough.',
    },
    numbers: { limit: 2048, requested: 14538 },
  },
  {
    from: 'DashScope',
    body: error('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]', {
      code: 'invalid_parameter_error',
    }),
    numbers: { limit: 204800 },
  },
  {
    from: 'Moonshot',
    body: error('Your request exceeded model token limit: 262144 (requested: 566084)'),
    numbers: { limit: 262144, requested: 566084 },
  },
  {
    from: 'Mistral',
    body: {
      object: 'error',
      message:
        'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      code: '3051',
    },
    numbers: { limit: 131072, requested: 140000 },
  },
  {
    from: 'xAI, error is a string',
    body: {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    numbers: { limit: 131072, requested: 537812 },
  },
  {
    from: 'Together',
    body: error("The input (160062 tokens) is longer than the model's context length (59862 tokens)."),
    numbers: { limit: 59862, requested: 160062 },
  },
  {
    from: 'Copilot',
    body: {
      error: {
        message: 'prompt token count of 190000 exceeds the limit of 128000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
    numbers: { limit: 128000, requested: 190000 },
  },
  {
    from: 'MiniMax: the number is an error code',
    body: error('invalid params, context window exceeds limit (2013)'),
    numbers: {},
  },
  { from: 'Bedrock', body: { message: 'Input is too long for requested model.' }, numbers: {} },
  {
    from: 'Bedrock, counted',
    body: { message: 'Too many input tokens. Max input tokens: 131072, request input token count: 150000' },
    numbers: { limit: 131072, requested: 150000 },
  },
  {
    from: 'Cohere',
    body: {
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt.',
    },
    numbers: { limit: 4081, requested: 4292 },
  },
  {
    from: 'TGI',
    status: 422,
    body: {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`',
    },
    numbers: { limit: 4096, input: 4000, output: 200, requested: 4200 },
  },
  {
    from: 'GitHub Models, status 413',
    status: 413,
    body: {
      error: {
        code: 'tokens_limit_reached',
        message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
      },
    },
    numbers: { limit: 8000 },
  },
  {
    from: 'Cerebras',
    body: {
      message: 'Please reduce the length of the messages or completion. Current length is 9046 while limit is 8192',
      code: 'context_length_exceeded',
    },
    numbers: { limit: 8192, requested: 9046 },
  },
  {
    from: 'OpenRouter, wrapped',
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"type":"error","error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}' },
      },
    },
    numbers: { limit: 200000, requested: 213462 },
  },
  {
    from: 'OpenRouter, kinds of input',
    body: error(
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 135349 tokens (60662 of text input, 10687 of tool input, 64000 in the output).",
    ),
    numbers: { limit: 131072, requested: 135349, input: 71349, output: 64000 },
    remedy: 'lower_output',
  },
  {
    from: 'Fireworks',
    body: error('The prompt is too long: 143000, model maximum context length: 131071'),
    numbers: { limit: 131071, requested: 143000 },
  },
  {
    from: 'Vertex',
    body: error(
      'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.',
    ),
    numbers: { limit: 1048576, requested: 1200000 },
  },
  {
    from: 'a server nobody has seen',
    body: error('Sorry: your 150,000 tokens are more than the 131,072 that this deployment can read.'),
    numbers: { limit: 131072, requested: 150000 },
  },
  { from: 'Zhipu', body: { error: { code: '1261', message: 'Prompt 超长' } } },
  {
    from: 'Chinese',
    body: error('输入的 token 数量 140000 超过模型最大上下文长度 131072'),
    numbers: { limit: 131072, requested: 140000 },
  },
  { from: 'Volcengine', body: error('Total tokens of image and text exceed max message tokens') },
  { from: 'Japanese', body: error('入力がモデルのコンテキスト長を超えています') },
  { from: 'Korean', body: error('요청이 모델의 컨텍스트 길이를 초과했습니다') },
  { from: 'Russian', body: error('Длина запроса превышает максимальный размер контекста модели') },
  { from: 'German', body: error('Die Anfrage überschreitet die maximale Kontextlänge des Modells') },
  { from: 'French', body: error('La requête dépasse la longueur maximale du contexte') },
  { from: 'Spanish', body: error('La solicitud excede la longitud máxima de contexto del modelo') },
];

test.each(OVERFLOWS)('an overflow as $from tells it', ({ status = 400, body, numbers, remedy }) => {
  const found = classify({ status, body, nowMs: 0 });
  expect([found.code, found.retryable]).toEqual(['context_overflow', false]);
  if (numbers !== undefined) expect(found.numbers).toEqual(numbers);
  expect(found.remedy).toBe(remedy ?? 'compact');
});

test.each(OVERFLOWS)('the same text within a stream, without a status, is one too ($from)', ({ body }) => {
  expect(classify({ body, nowMs: 0 }).code).toBe('context_overflow');
  expect(classify({ status: 400, body: JSON.stringify(body), nowMs: 0 }).code).toBe('context_overflow');
});

const NO_OVERFLOWS: readonly Shape[] = [
  {
    from: 'throttled tokens',
    status: 429,
    body: { message: 'Too many tokens, please wait before trying again.', __type: 'ThrottlingException' },
    code: 'rate_limit',
  },
  {
    from: 'throttled tokens with status 400',
    body: { message: 'Too many tokens, please wait.', __type: 'ThrottlingException' },
    code: 'rate_limit',
  },
  {
    from: 'tokens a minute',
    status: 429,
    body: error('Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500.', {
      code: 'rate_limit_exceeded',
    }),
    code: 'rate_limit',
  },
  {
    from: 'a pairing error',
    body: error('An assistant message with "tool_calls" must be followed by tool messages.', {
      code: 'invalid_parameter_error',
    }),
    code: 'invalid_request',
  },
  {
    from: 'an output limit',
    body: error('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'),
    code: 'invalid_request',
    remedy: 'lower_output',
  },
  {
    from: 'an output limit of DeepSeek',
    body: error('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
    code: 'invalid_request',
    remedy: 'lower_output',
  },
  {
    from: 'an output limit of DashScope',
    body: error('Range of max_tokens should be [1, 8192]'),
    code: 'invalid_request',
    remedy: 'lower_output',
  },
  {
    from: 'bytes',
    body: error('total message size 10176584 exceeds limit 2097152'),
    code: 'request_too_large',
    numbers: { limit: 2097152, requested: 10176584 },
  },
  {
    from: 'an image',
    body: error('messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes'),
    code: 'request_too_large',
    numbers: { limit: 5242880, requested: 6000000 },
  },
  {
    from: 'a 413 page',
    status: 413,
    body: '<html><head><title>413 Request Entity Too Large</title></head></html>',
    code: 'request_too_large',
  },
  {
    from: 'a string',
    body: error(
      'Invalid messages: string too long. Expected a string with maximum length 10485760, but got a string with length 11223344 instead.',
      { code: 'string_above_max_length' },
    ),
    code: 'request_too_large',
    numbers: { limit: 10485760, requested: 11223344 },
  },
];

test.each(NO_OVERFLOWS)('$from is not taken for an overflow', ({ status = 400, body, code, remedy, numbers }) => {
  const found = classify({ status, body, nowMs: 0 });
  expect(found.code).toBe(code);
  if (remedy !== undefined) expect(found.remedy).toBe(remedy);
  if (numbers !== undefined) expect(found.numbers).toEqual(numbers);
});
