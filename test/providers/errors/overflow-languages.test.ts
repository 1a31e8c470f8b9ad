import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import type { OverflowNumbers } from '../../../src/providers/errors.ts';

const classified = (message: string, status = 400) =>
  classify({ status, body: { error: { message, type: 'invalid_request_error' } }, nowMs: 0 });

/**
 * Sentences of servers that no table of vendors names, in the languages of the people who run them, with the numbers that
 * are read from them: a pair, or a limit that stands behind its name.
 */
const OVERFLOWS: readonly (readonly [message: string, numbers: OverflowNumbers])[] = [
  ['the max input characters is 5120, prompt tokens too long', {}],
  ['请求的 token 数量 150000 超过了模型的最大上下文长度 131072', { limit: 131_072, requested: 150_000 }],
  ['输入内容过长，请缩短后重试', {}],
  ['上下文长度超出模型限制', {}],
  ['對話內容超出模型的上下文長度限制', {}],
  ['提示词超出模型最大长度', {}],
  ['prompt 超长，当前 210000 tokens，最大支持 200000 tokens', { limit: 200_000, requested: 210_000 }],
  ['您的输入超过了模型的最大长度限制', {}],
  ['消息总长度超过模型限制，请减少消息数量', {}],
  ['入力トークン数が最大コンテキスト長 8192 を超えています', { limit: 8192 }],
  ['プロンプトが長すぎます。', {}],
  ['コンテキストの長さ（131072トークン）を超過しました', {}],
  ['入力がモデルの最大トークン数を超えています。', {}],
  ['입력 토큰 수가 모델의 최대 컨텍스트 길이를 초과했습니다.', {}],
  ['프롬프트가 너무 깁니다.', {}],
  ['요청이 모델의 컨텍스트 창을 초과합니다', {}],
  ['Превышена максимальная длина контекста модели: 8192 токенов', {}],
  ['Контекст слишком длинный для модели', {}],
  [
    'Количество токенов во входных данных (9000) превышает максимально допустимое (8192)',
    { limit: 8192, requested: 9000 },
  ],
  ['Die maximale Kontextlänge von 8192 Token wurde überschritten.', {}],
  ['Die Eingabe ist zu lang für das Modell.', {}],
  ['Die Anfrage überschreitet das Kontextfenster des Modells (9000 > 8192 Token)', { limit: 8192, requested: 9000 }],
  ['La longueur du contexte dépasse la limite du modèle', {}],
  ['Votre requête dépasse la fenêtre de contexte maximale de 32768 jetons.', { limit: 32_768 }],
  ['Le prompt est trop long pour ce modèle.', {}],
  ['La entrada excede la longitud máxima de contexto del modelo', {}],
  ['Se superó la ventana de contexto: 9000 tokens solicitados, máximo 8192', { limit: 8192, requested: 9000 }],
  ['El mensaje es demasiado largo para el modelo', {}],
  ['A entrada excede o comprimento máximo de contexto do modelo.', {}],
  ['O prompt é muito longo para o modelo', {}],
  ['Il prompt supera la lunghezza massima del contesto del modello', {}],
  ['Input troppo lungo per il modello: 9000 token, massimo 8192', { limit: 8192, requested: 9000 }],
  ['Przekroczono maksymalną długość kontekstu modelu', {}],
  ['İstek, modelin maksimum bağlam uzunluğunu aşıyor.', {}],
  ['De invoer overschrijdt de maximale contextlengte van het model', {}],
  ['Yêu cầu vượt quá độ dài ngữ cảnh tối đa của mô hình', {}],
  ['تجاوز الطلب الحد الأقصى لطول السياق', {}],
  ['इनपुट मॉडल की अधिकतम संदर्भ लंबाई से अधिक है', {}],
  ['Перевищено максимальну довжину контексту', {}],
  ['Cannot truncate prompt with n_keep (9000) >= n_ctx (8192)', { limit: 8192, requested: 9000 }],
  ['Prompt exceeds max context length 8192', { limit: 8192 }],
  ['Prompt length 9000 is greater than max_seq_len 8192', { limit: 8192, requested: 9000 }],
  ['The conversation is too long for this bot. Please start a new chat or clear context.', {}],
  ['prompt tokens is too long, the max context length of model step-1-8k is 8192', { limit: 8192 }],
  ["This model's maximum context length is 16384, but 20000 tokens were given", { limit: 16_384, requested: 20_000 }],
  ['Sequence length 9000 exceeds maximum sequence length 8192', { limit: 8192, requested: 9000 }],
  ['prompt length (9000) exceeds max_input_len (8192)', { limit: 8192, requested: 9000 }],
];

test.each(OVERFLOWS)('%s: is an overflow', (message, numbers) => {
  const { code, numbers: found } = classified(message);
  expect(code).toBe('context_overflow');
  expect(found).toEqual(numbers);
});

/** Other things are too large, too long or exceeded in the same words. */
const OTHERS: readonly string[] = [
  "Invalid 'temperature': integer above maximum value. Expected a value <= 2, but got 3 instead.",
  "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.",
  "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 83 instead.",
  "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 142 instead.",
  'messages: at least one message is required',
  'messages.1.content.0: tool_use_id not found in the conversation history, must be at most 64 characters',
  'The request must contain at most 128 tools.',
  'top_p must be less than 1',
  'Unknown parameter: context_management',
  'Input should be a valid string',
  "Invalid value for 'content': expected a string, got null.",
  'stop: too many stop sequences, at most 4 are allowed',
  'The message role must be one of system, user, assistant, tool',
  'Conversation roles must alternate user/assistant',
  'metadata value is too long',
  'tool name is too long',
  'Input image is not a valid image',
  'messages: text content blocks must be non-empty',
  '参数错误：temperature 超出范围',
  '工具名称过长',
  '图片数量超过限制',
  '今日调用次数已超过上限',
  'ツール名が長すぎます',
  'パラメータ temperature が範囲を超えています',
  '도구 이름이 너무 깁니다',
  'Слишком длинное имя инструмента',
  'Der Wert von temperature überschreitet den Bereich',
  'La valeur dépasse la limite autorisée',
  'El valor de temperatura excede el rango',
  'Il nome dello strumento è troppo lungo',
];

test.each(OTHERS)('%s: is no overflow', (message) => {
  expect(classified(message).code).toBe('invalid_request');
});

test('with status 413 a sentence about tokens is an overflow, one about bytes is not', () => {
  expect(classified('prompt length (9000) exceeds max_input_len (8192)', 413).code).toBe('context_overflow');
  expect(classified('Request Entity Too Large', 413).code).toBe('request_too_large');
  expect(classified('body of 40000000 bytes exceeds the limit', 413).code).toBe('request_too_large');
});
