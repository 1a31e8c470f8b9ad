import type { ResponsesLaws } from './openai-responses.ts';
import { type Flag, isObject, type Obj, unique } from './shape.ts';

const CALLS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};
const OUTPUTS = Object.values(CALLS);

/** Items that the model made; a run of them is one answer. */
function isModelItem(item: Obj | undefined): boolean {
  if (item === undefined || OUTPUTS.includes(String(item.type))) return false;
  if (item.type === undefined || item.type === 'message') return item.role === 'assistant';
  return true;
}

/** Everything that spans items: pairs, reasoning and what follows it, ids, what `store: false` rules out. */
export function checkOrder(items: readonly Obj[], request: Obj, laws: ResponsesLaws, flag: Flag): void {
  pairs(items, flag);
  unique(
    items.flatMap((item) => (typeof item.id === 'string' ? [item.id] : [])),
    'input',
    'item id',
    flag,
  );
  items.forEach((item, i) => {
    if (item.type === 'reasoning' && !isModelItem(items[i + 1])) {
      flag(`input[${i}]`, 'reasoning was provided without its required following item');
    }
  });
  if (laws.reasoningModel) idsNeedReasoning(items, flag);
  if (request.store === false && !laws.plainReasoning) stateless(items, request, flag);
}

/** "No tool output found for function call …", "No tool call found for function call output …", each answered once, before people speak again. */
function pairs(items: readonly Obj[], flag: Flag): void {
  const open = new Map<unknown, string>();
  const seen = new Set<unknown>();
  items.forEach((item, i) => {
    const path = `input[${i}]`;
    const answer = CALLS[String(item.type)];
    if (answer !== undefined) {
      if (seen.has(item.call_id)) flag(path, `call_id ${String(item.call_id)} was used before`);
      seen.add(item.call_id);
      open.set(item.call_id, answer);
    } else if (OUTPUTS.includes(String(item.type))) {
      if (open.get(item.call_id) !== item.type) flag(path, `no tool call found for output ${String(item.call_id)}`);
      open.delete(item.call_id);
    } else if (!isModelItem(item)) {
      for (const id of open.keys()) flag(path, `no tool output for call ${String(id)} before this item`);
      open.clear();
    }
  });
  for (const id of open.keys()) flag('input', `no tool output found for call ${String(id)}`);
}

/** "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item". */
function idsNeedReasoning(items: readonly Obj[], flag: Flag): void {
  let reasoned = false;
  items.forEach((item, i) => {
    if (!isModelItem(item)) reasoned = false;
    else if (item.type === 'reasoning') reasoned = true;
    else if (item.id !== undefined && !reasoned) flag(`input[${i}]`, 'has an id but its reasoning item is missing');
  });
}

/** With `store: false` nothing can be looked up: no references, reasoning only when encrypted and asked for. */
function stateless(items: readonly Obj[], request: Obj, flag: Flag): void {
  const include = Array.isArray(request.include) ? request.include : [];
  items.forEach((item, i) => {
    if (item.type === 'item_reference') flag(`input[${i}]`, 'items are not persisted when store is false');
    if (item.type === 'reasoning' && typeof item.encrypted_content !== 'string') {
      flag(`input[${i}]`, 'reasoning without encrypted_content cannot be found when store is false');
    }
  });
  const reasons = items.some((item) => item.type === 'reasoning') || isObject(request.reasoning);
  if (reasons && !include.includes('reasoning.encrypted_content')) {
    flag('include', 'must ask for reasoning.encrypted_content when store is false');
  }
}
