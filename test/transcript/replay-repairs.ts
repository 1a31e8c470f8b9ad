import type { AgentItem, Replay, ToolCall, ToolResult } from '../../src/transcript/items.ts';
import type { Repair } from '../../src/transcript/repair.ts';

type Of<Code extends Repair['code']> = Extract<Repair, { code: Code }>;

/**
 * The oracle of `normalize`: makes its output from its input and its repairs, by rote and without looking for faults.
 * Quadratic on purpose. Whatever `normalize` does beyond its repairs shows as a difference.
 */
export function replayRepairs(items: readonly AgentItem[], repairs: readonly Repair[]): AgentItem[] {
  const of = <Code extends Repair['code']>(code: Code): Of<Code>[] =>
    repairs.filter((repair): repair is Of<Code> => repair.code === code);

  // Order first, by index alone.
  const gone = new Set([...of('item_removed'), ...of('batch_joined')].map(({ index }) => index));
  const isResults = (index: number | undefined): boolean =>
    index !== undefined && items[index]?.kind === 'tool_result_batch';
  let order = items.map((_, index) => index).filter((index) => !gone.has(index) || isResults(index));
  const moves = of('item_moved');
  order = order.filter((index) => !moves.some((move) => move.index === index));
  const put = (index: number): void => {
    for (const move of moves.filter(({ after }) => after === index)) {
      let at = order.indexOf(index) + 1;
      while (isResults(order[at]) && items[index]?.kind === 'tool_call_batch' && at === order.indexOf(index) + 1)
        at += 1;
      while (moves.some((other) => other.after === index && other.index === order[at])) at += 1;
      order.splice(at, 0, move.index);
      put(move.index);
    }
  };
  for (const index of [...order]) put(index);

  // Then calls and results.
  const output: AgentItem[] = [];
  for (const [position, index] of order.entries()) {
    const item = items[index];
    if (item === undefined || item.kind === 'tool_result_batch') continue;
    if (item.kind !== 'tool_call_batch') {
      output.push(
        stripped(
          item,
          of('replay_removed').filter((repair) => repair.index === index),
        ),
      );
      continue;
    }
    const parts = of('batch_joined').flatMap((repair) => (repair.into === index ? [repair.index] : []));
    const merged = [...parts, index].flatMap((part) => callsOf(items, part, repairs));
    const strip = of('replay_removed').filter((repair) => repair.index === index);
    output.push(stripped({ ...item, calls: merged }, strip));

    const follower = order[position + 1];
    const unnamed = resultsAt(items, follower)
      .map((result, ordinal) => ({ result, ordinal }))
      .filter(({ ordinal }) => !named(repairs, follower, ordinal))
      .map(({ result }) => result);
    const answers = merged.map((call, ordinal): ToolResult => {
      const added = of('result_added').find((repair) => repair.index === index && repair.call === ordinal);
      const moved = of('result_moved').find((repair) => repair.batch === index && repair.call === ordinal);
      const status = of('status_changed').find((repair) => repair.index === index && repair.call === ordinal);
      const result =
        added?.result ?? (moved === undefined ? unnamed.shift() : resultsAt(items, moved.index)[moved.result]);
      if (result === undefined) throw new Error(`no result for call ${ordinal} of item ${index}`);
      return { ...result, callId: call.callId, status: status?.to ?? result.status };
    });
    if (unnamed.length > 0) throw new Error(`results of item ${follower} are left over`);
    output.push({ kind: 'tool_result_batch', schemaVersion: 1, results: answers });
  }
  return output;
}

function resultsAt(items: readonly AgentItem[], index: number | undefined): readonly ToolResult[] {
  const item = index === undefined ? undefined : items[index];
  return item?.kind === 'tool_result_batch' ? item.results : [];
}

function named(repairs: readonly Repair[], index: number | undefined, ordinal: number): boolean {
  return repairs.some(
    (repair) =>
      (repair.code === 'result_moved' || repair.code === 'result_removed') &&
      repair.index === index &&
      repair.result === ordinal,
  );
}

function callsOf(items: readonly AgentItem[], index: number, repairs: readonly Repair[]): ToolCall[] {
  const item = items[index];
  if (item?.kind !== 'tool_call_batch') throw new Error(`item ${index} is no batch`);
  return item.calls.map((call, ordinal) => {
    let changed: ToolCall = call;
    for (const repair of repairs) {
      if (!('call' in repair) || repair.index !== index || repair.call !== ordinal) continue;
      if (repair.code === 'call_id_changed') changed = { ...changed, callId: repair.to };
      if (repair.code === 'arguments_replaced') {
        const { rawArguments, argumentsError } = repair;
        changed = { ...changed, arguments: {}, rawArguments, argumentsError };
      }
    }
    return changed;
  });
}

function stripped(item: AgentItem, repairs: readonly Of<'replay_removed'>[]): AgentItem {
  let copy: AgentItem = item;
  for (const { place } of repairs) {
    const part = (value: { readonly replay?: Replay }, at: number | null): object =>
      at === place ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'replay')) : value;
    if (copy.kind === 'assistant_message') copy = { ...copy, content: copy.content.map(part) as typeof copy.content };
    else if (copy.kind === 'tool_call_batch') copy = { ...copy, calls: copy.calls.map(part) as typeof copy.calls };
    else copy = part(copy as { replay?: Replay }, null) as AgentItem;
  }
  return copy;
}
