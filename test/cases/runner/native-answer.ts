import { isObj, type Obj, objs, str } from './case-file.ts';
import { responsesEvents } from './native-responses.ts';
import { assistantText, providerItems, rawArguments, reasoningText, type Step } from './notation-step.ts';
import type { Answer } from './replay-server.ts';
import type { WireApi } from './target.ts';

/** The answer as its maker's API would have streamed it, so that the product reads it as it reads any other. */
export function nativeAnswer(api: WireApi, step: Step, index: number): Answer {
  const events = { anthropic: anthropicEvents, 'openai-chat': chatEvents, 'openai-responses': responsesEvents }[api](
    step,
    index,
  );
  const body = events.map(
    (event) => `${event.type === undefined ? '' : `event: ${str(event.type)}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  const done = api === 'openai-chat' ? ['data: [DONE]\n\n'] : [];
  return {
    http: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: [...body, ...done].join('') },
    end: 'close',
  };
}

function anthropicEvents(step: Step, index: number): Obj[] {
  const blocks: { start: Obj; deltas: Obj[] }[] = [];
  if (isObj(step.reasoning)) blocks.push(thinkingBlock(step.reasoning));
  if (step.assistant !== undefined) {
    blocks.push({ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: assistantText(step) }] });
  }
  for (const event of providerItems(step)) blocks.push({ start: event, deltas: [] });
  for (const call of objs(step.calls)) {
    const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
    blocks.push({ start, deltas: [{ type: 'input_json_delta', partial_json: rawArguments(call) }] });
  }
  const usage = { input_tokens: 10, output_tokens: 1 };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${index}`,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage,
      },
    },
    ...blocks.flatMap(({ start, deltas }, i) => [
      { type: 'content_block_start', index: i, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: i, delta })),
      { type: 'content_block_stop', index: i },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: step.calls === undefined ? 'end_turn' : 'tool_use' },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
}

function thinkingBlock(reasoning: Obj): { start: Obj; deltas: Obj[] } {
  const redacted = reasoning.redacted ?? reasoning.data;
  if (typeof redacted === 'string') return { start: { type: 'redacted_thinking', data: redacted }, deltas: [] };
  const signature =
    typeof reasoning.signature === 'string' ? [{ type: 'signature_delta', signature: reasoning.signature }] : [];
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [{ type: 'thinking_delta', thinking: reasoningText(reasoning) }, ...signature],
  };
}

function chatEvents(step: Step, index: number): Obj[] {
  const deltas: Obj[] = [{ role: 'assistant', content: null }];
  if (isObj(step.reasoning)) deltas.push({ reasoning_content: reasoningText(step.reasoning) });
  if (step.assistant !== undefined) deltas.push({ content: assistantText(step) });
  objs(step.calls).forEach((call, i) => {
    const extra = call.extra_content ?? call.extra;
    const fn = { name: call.name, arguments: rawArguments(call) };
    deltas.push({
      tool_calls: [
        {
          index: i,
          id: call.id,
          type: 'function',
          function: fn,
          ...(extra === undefined ? {} : { extra_content: extra }),
        },
      ],
    });
  });
  const chunk = (delta: Obj, finish: string | null) => ({
    id: `chatcmpl-${index}`,
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, step.calls === undefined ? 'stop' : 'tool_calls')];
}
