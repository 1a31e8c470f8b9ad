import { isObj, type Obj, objs, str } from './case-file.ts';
import { assistantText, providerItems, rawArguments, reasoningText, type Step } from './notation-step.ts';

/** Events of the Responses API for one answer: items announced, filled and closed, then the whole response. */
export function responsesEvents(step: Step, index: number): Obj[] {
  const items = responsesItems(step, index);
  const response = { id: `resp_${index}`, object: 'response', model: 'm', error: null, incomplete_details: null };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap((item, i) => [
      { type: 'response.output_item.added', output_index: i, item: opened(item) },
      ...contentEvents(item, i),
      { type: 'response.output_item.done', output_index: i, item },
    ]),
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: items,
        usage: { input_tokens: 10, output_tokens: 9, total_tokens: 19 },
      },
    },
  ];
}

function responsesItems(step: Step, index: number): Obj[] {
  const items: Obj[] = [];
  const id = (value: unknown, otherwise: string) =>
    isObj(value) && value.item_id !== undefined ? value.item_id : otherwise;
  if (isObj(step.reasoning)) {
    const summary = Array.isArray(step.reasoning.summary) ? step.reasoning.summary : [];
    const text = reasoningText(step.reasoning);
    items.push({
      type: 'reasoning',
      id: id(step.reasoning, `rs_${index}`),
      summary: summary.map((entry) => ({ type: 'summary_text', text: str(entry) })),
      ...(step.reasoning.encrypted === undefined ? {} : { encrypted_content: step.reasoning.encrypted }),
      ...(text === '' ? {} : { content: [{ type: 'reasoning_text', text }] }),
    });
  }
  if (step.assistant !== undefined) {
    const content = [{ type: 'output_text', text: assistantText(step), annotations: [] }];
    items.push({
      type: 'message',
      id: id(step.assistant, `msg_${index}`),
      role: 'assistant',
      status: 'completed',
      content,
    });
  }
  items.push(...providerItems(step));
  if (isObj(step.custom_call)) {
    const { id: callId, name = 'custom_tool', input } = step.custom_call;
    items.push({
      type: 'custom_tool_call',
      id: id(step.custom_call, `ctc_${index}`),
      call_id: callId,
      name,
      input: str(input),
      status: 'completed',
    });
  }
  objs(step.calls).forEach((call, i) => {
    items.push({
      type: 'function_call',
      id: id(call, `fc_${index}_${i}`),
      call_id: call.id,
      name: call.name,
      arguments: rawArguments(call),
      status: 'completed',
    });
  });
  return items;
}

/** An item as it stands when it is announced: without what arrives in deltas. */
function opened(item: Obj): Obj {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' };
  if (item.type === 'custom_tool_call') return { ...item, input: '', status: 'in_progress' };
  return item.type === 'message' ? { ...item, content: [], status: 'in_progress' } : item;
}

function contentEvents(item: Obj, index: number): Obj[] {
  const at = { item_id: item.id, output_index: index };
  if (item.type === 'message') {
    const text = str(objs(item.content)[0]?.text);
    return [
      {
        type: 'response.content_part.added',
        ...at,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      { type: 'response.output_text.delta', ...at, content_index: 0, delta: text },
      { type: 'response.output_text.done', ...at, content_index: 0, text },
    ];
  }
  if (item.type === 'custom_tool_call')
    return [{ type: 'response.custom_tool_call_input.done', ...at, input: item.input }];
  if (item.type !== 'function_call') return [];
  return [
    { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
    { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
  ];
}
