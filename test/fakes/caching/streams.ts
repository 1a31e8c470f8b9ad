import type { InputBill } from './anthropic-cache.ts';
import type { CachingApi } from './asked.ts';
import type { LimitedAnswer } from './scripted.ts';

/** The answer as the vendor streams it: server-sent events, whole. */
export function eventStream(
  api: CachingApi,
  model: string,
  id: string,
  answer: LimitedAnswer,
  bill: InputBill,
): string {
  return api === 'anthropic' ? anthropicStream(model, id, answer, bill) : chatStream(model, id, answer, bill);
}

function anthropicStream(model: string, id: string, answer: LimitedAnswer, bill: InputBill): string {
  const events: { readonly type: string; readonly [key: string]: unknown }[] = [
    {
      type: 'message_start',
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: bill.uncached,
          cache_read_input_tokens: bill.read,
          cache_creation_input_tokens: bill.written5m + bill.written1h,
          cache_creation: { ephemeral_5m_input_tokens: bill.written5m, ephemeral_1h_input_tokens: bill.written1h },
          output_tokens: 1,
        },
      },
    },
  ];
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]): void => {
    events.push({ type: 'content_block_start', index, content_block });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
    index += 1;
  };
  if (answer.reasoning !== '') {
    const signature = Buffer.from(`signed ${id}`).toString('base64');
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: answer.reasoning },
      { type: 'signature_delta', signature },
    ]);
  }
  if (answer.text !== '') block({ type: 'text', text: '' }, [{ type: 'text_delta', text: answer.text }]);
  for (const [at, { name, args }] of answer.calls.entries()) {
    block({ type: 'tool_use', id: `toolu_${id}_${at}`, name, input: {} }, [
      { type: 'input_json_delta', partial_json: JSON.stringify(args) },
    ]);
  }
  const stop_reason = answer.cut ? 'max_tokens' : answer.calls.length > 0 ? 'tool_use' : 'end_turn';
  events.push({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: answer.outputTokens },
  });
  events.push({ type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function chatStream(model: string, id: string, answer: LimitedAnswer, bill: InputBill): string {
  const lines: string[] = [];
  const send = (choices: readonly unknown[], more: object = {}): void => {
    const chunk = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 1, model, choices, ...more };
    lines.push(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const delta = (content: object): void => send([{ index: 0, delta: content, finish_reason: null }]);
  delta({ role: 'assistant', content: '' });
  if (answer.reasoning !== '') delta({ reasoning_content: answer.reasoning });
  if (answer.text !== '') delta({ content: answer.text });
  for (const [index, { name, args }] of answer.calls.entries()) {
    const fn = { name, arguments: JSON.stringify(args) };
    delta({ tool_calls: [{ index, id: `call_${id}_${index}`, type: 'function', function: fn }] });
  }
  const finish = answer.cut ? 'length' : answer.calls.length > 0 ? 'tool_calls' : 'stop';
  send([{ index: 0, delta: {}, finish_reason: finish }]);
  const input = bill.uncached + bill.read;
  send([], {
    usage: {
      prompt_tokens: input,
      completion_tokens: answer.outputTokens,
      total_tokens: input + answer.outputTokens,
      prompt_tokens_details: { cached_tokens: bill.read },
      completion_tokens_details: { reasoning_tokens: answer.reasoningTokens },
    },
  });
  lines.push('data: [DONE]\n\n');
  return lines.join('');
}
