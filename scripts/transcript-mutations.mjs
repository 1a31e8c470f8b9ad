/** One way to break a source of the transcript: `find` (fits once) becomes `replace`. `why` says what is lost. */
function mutation(file, why, find, replace) {
  return { file, why, find, replace };
}

/** Takes a check away: the code is never reported. */
function unchecked(code, find) {
  return mutation('validate.ts', `${code} is not reported`, find, 'void 0');
}

const VALIDATE = [
  unchecked('call_id_empty', "report('call_id_empty', index, callId)"),
  unchecked('call_id_duplicate', "report('call_id_duplicate', index, callId)"),
  unchecked('arguments_not_object', "report('arguments_not_object', index, callId)"),
  unchecked('response_after_batch', "report('response_after_batch', index + 1)"),
  unchecked('result_missing', "report('result_missing', index, callId)"),
  unchecked('result_orphan', "report('result_orphan', index, callId)"),
  unchecked('result_duplicate', "report('result_duplicate', index, callId)"),
  unchecked('result_order', "report('result_order', index, callId)"),
  unchecked('unparsable_call_executed', "report('unparsable_call_executed', index, callId)"),
  unchecked('replay_unscoped', "report('replay_unscoped', index)"),
  unchecked('replay_out_of_scope', "report('replay_out_of_scope', index)"),
  unchecked('builtin_call_repeated', "report('builtin_call_repeated', index)"),
  unchecked('builtin_result_orphan', "report('builtin_result_orphan', index)"),
  unchecked('stray_in_group', "report('stray_in_group', index)"),
  unchecked('seq_not_increasing', "report('seq_not_increasing', index)"),
  mutation('validate.ts', 'an empty item passes', "if (isEmptyItem(item)) report('item_empty', index);", ''),
  mutation(
    'validate.ts',
    'an empty result batch passes',
    "if (calls.length === 0 && item.results.length === 0) report('item_empty', index);",
    '',
  ),
  mutation('validate.ts', 'an open tail is never let through', "next === undefined && tail === 'open'", 'false'),
  mutation(
    'validate.ts',
    'a closed tail may lack results',
    "next === undefined && tail === 'open'",
    'next === undefined',
  ),
  mutation(
    'validate.ts',
    'any batch may lack results while a run goes on',
    "next === undefined && tail === 'open'",
    "tail === 'open'",
  ),
  mutation('validate.ts', 'a seq may repeat', '!(seq > before)', '!(seq >= before)'),
  mutation(
    'validate.ts',
    'order is compared with the last result only',
    'last = Math.max(last, answer.ordinal)',
    'last = answer.ordinal',
  ),
  mutation('validate.ts', 'a cancelled call counts as not begun', 'cancelled: true', 'cancelled: false'),
  mutation('validate.ts', 'a timed-out call counts as not begun', 'timed_out: true', 'timed_out: false'),
  mutation('validate.ts', 'an unknown outcome counts as not begun', 'unknown_outcome: true', 'unknown_outcome: false'),
  mutation('validate.ts', 'an aborted call counts as begun', 'aborted: false', 'aborted: true'),
  mutation('validate.ts', 'a refused call counts as begun', 'denied: false', 'denied: true'),
  mutation('validate.ts', 'results are not looked at', 'checkResults(item, items[index - 1], index, report)', 'void 0'),
  mutation('validate.ts', 'groups are not looked at', '  checkGroups(items, report);\n', ''),
  mutation(
    'validate.ts',
    'violations are not sorted',
    'return violations.sort((left, right) => left.index - right.index)',
    'return violations',
  ),
];

const PAIRING = [
  mutation(
    'pair-results.ts',
    'a batch that is over still takes results',
    'else waiting.set(callId',
    'else if (calls === undefined) waiting.set(callId',
  ),
  mutation('pair-results.ts', 'a call may be answered twice', 'calls.next += 1;', ''),
  mutation(
    'pair-results.ts',
    'the second result of a call is called a stranger',
    'duplicate: calls !== undefined',
    'duplicate: false',
  ),
  mutation(
    'pair-results.ts',
    'of the calls of a batch under one id only the last counts',
    'if (calls?.index === index) calls.ordinals.push(ordinal);\n  else ',
    '',
  ),
];

const GROUPS = [
  mutation('groups.ts', 'a group ends one early', 'end: last + 1', 'end: Math.max(start + 1, last)'),
  mutation('groups.ts', 'a response may be torn', 'tie(start, end - 1);', ''),
  mutation('groups.ts', 'a response lacks its last item', 'tie(start, end - 1)', 'tie(start, end - 2)'),
  mutation('groups.ts', 'results are not tied to calls', 'if (call !== null) tie(call.index, index)', ''),
  mutation('groups.ts', 'builtin spans are not tied', 'tie(start, last);', ''),
  mutation('groups.ts', 'reach within a group is not followed', 'index <= last; index', 'index <= start; index'),
  mutation(
    'response-runs.ts',
    'a response is one item long',
    'while (end < items.length && at(items, end)?.id === id) end += 1;',
    '',
  ),
  mutation(
    'response-runs.ts',
    'all neighbours are one response',
    'at(items, end)?.id === id',
    'at(items, end) !== undefined',
  ),
];

const BUILTIN = [
  mutation('builtin-links.ts', 'a pause ends the group', 'span?.paused === true && span.last === start - 1', 'false'),
  mutation('builtin-links.ts', 'a pause survives a message', ' && span.last === start - 1', ''),
  mutation('builtin-links.ts', 'any response is a pause', 'span.paused = builtin && !batch', 'span.paused = !batch'),
  mutation(
    'builtin-links.ts',
    'a response with our calls is a pause',
    'span.paused = builtin && !batch',
    'span.paused = builtin',
  ),
  mutation(
    'builtin-links.ts',
    'a later result does not join',
    'span !== undefined && answers(items, start, end, span.open, repeats)',
    'false',
  ),
  mutation('builtin-links.ts', 'strays are not told', 'span.strays.push(...between)', 'void 0'),
  mutation('builtin-links.ts', 'strays of an earlier turn stay', '      between = [];\n', ''),
  mutation('builtin-links.ts', 'orphans are not told', 'orphans.add(index);', ''),
  mutation(
    'builtin-links.ts',
    'a result may come twice',
    'span.open.delete(item.nativeId)',
    'span.open.has(item.nativeId)',
  ),
  mutation('builtin-links.ts', 'repeated calls are not told', 'if (seen.has(item.nativeId)) repeats.add(index);', ''),
  mutation('builtin-links.ts', 'a missing id counts as repeated', " || item.nativeId === ''", ''),
  mutation(
    'builtin-links.ts',
    'a call made anew in the response does not count',
    'else if (open.has(item.nativeId) && !own.has(item.nativeId)) return true;',
    'else if (open.has(item.nativeId)) return true;',
  ),
  mutation('builtin-links.ts', 'the span ends one early', 'span.last = end - 1;', 'span.last = start;'),
  mutation(
    'builtin-links.ts',
    'a repeated call opens',
    "if (item?.kind !== 'builtin_tool_event' || repeats.has(index)) continue;\n    if (item.phase === 'call') span.open.add",
    "if (item?.kind !== 'builtin_tool_event') continue;\n    if (item.phase === 'call') span.open.add",
  ),
];

const ARRANGE = [
  mutation('arrange-items.ts', 'orphans stay', "if (orphans.has(index)) return 'orphan';", ''),
  mutation('arrange-items.ts', 'repeated builtin calls stay', "if (repeats.has(index)) return 'duplicate';", ''),
  mutation(
    'arrange-items.ts',
    'empty items stay',
    "return isEmptyItem(item) ? 'empty' : undefined",
    'return undefined',
  ),
  mutation(
    'arrange-items.ts',
    'a removal is not told',
    "repairs.push({ code: 'item_removed', index, kind: item.kind, reason });",
    '',
  ),
  mutation('arrange-items.ts', 'a move is not told', "repairs.push({ code: 'item_moved', index, after });", ''),
  mutation(
    'arrange-items.ts',
    'a joined batch is not told',
    "repairs.push({ code: 'batch_joined', index, into: survivor });",
    '',
  ),
  mutation(
    'arrange-items.ts',
    'a joined batch stays too',
    'into: survivor });\n        skipped.add(index);',
    'into: survivor });',
  ),
  mutation(
    'arrange-items.ts',
    'a batch stays before its text',
    'if (last !== undefined && last > survivor) move(survivor, last);',
    '',
  ),
  mutation('arrange-items.ts', 'strays stay', '    move(index, anchor);\n', ''),
  mutation(
    'arrange-items.ts',
    'followers are lost',
    'for (const follower of followers.get(index) ?? []) emit(follower);',
    '',
  ),
  mutation(
    'arrange-items.ts',
    'what moves behind a batch parts it from its results',
    'order.push(next);\n        cursor = next;',
    '',
  ),
];

const CALLS = [
  mutation('repair-calls.ts', 'used ids are used again', "minted === '' || used.has(minted)", "minted === ''"),
  mutation('repair-calls.ts', 'empty ids stay', "minted === '' || used.has(minted)", 'used.has(minted)'),
  mutation(
    'repair-calls.ts',
    'a new id is not told',
    "repairs.push({ code: 'call_id_changed', index, call: ordinal, from: call.callId, to: callId });",
    '',
  ),
  mutation('repair-calls.ts', 'arguments of any type stay', 'if (isJsonObject(raw)) return named;', 'return named;'),
  mutation(
    'repair-calls.ts',
    'new arguments are not told',
    "repairs.push({ code: 'arguments_replaced', index, call: ordinal, ...replaced });",
    '',
  ),
  mutation(
    'repair-calls.ts',
    'what came instead of arguments is lost',
    "call.rawArguments ?? JSON.stringify(raw) ?? ''",
    "''",
  ),
];

const RESULTS = [
  mutation(
    'rebuild-results.ts',
    'results are dropped untold',
    "repairs.push({\n        code: 'result_removed',",
    "void ({\n        code: 'result_removed',",
  ),
  mutation(
    'rebuild-results.ts',
    'results are added untold',
    "repairs.push({ code: 'result_added', index, call: ordinal, result: added });",
    '',
  ),
  mutation(
    'rebuild-results.ts',
    'results move untold',
    "repairs.push({ code: 'result_moved', ...from, batch: index, call: ordinal });",
    '',
  ),
  mutation(
    'rebuild-results.ts',
    'a status changes untold',
    "repairs.push({ code: 'status_changed', index, call: ordinal, from: result.status, to: status });",
    '',
  ),
  mutation(
    'rebuild-results.ts',
    'an empty result batch goes untold',
    "repairs.push({ code: 'item_removed', index, kind: item.kind, reason: 'empty' });",
    '',
  ),
  mutation(
    'rebuild-results.ts',
    'an unreadable call may have run',
    "? 'error' : result.status",
    '? result.status : result.status',
  ),
  mutation(
    'rebuild-results.ts',
    'a result keeps the old id of its call',
    '{ ...result, callId: call.callId, status }',
    '{ ...result, status }',
  ),
  mutation(
    'rebuild-results.ts',
    'an unanswered call is said not to have run',
    "syntheticResult(call.callId, 'unknown_outcome')",
    "syntheticResult(call.callId, 'aborted')",
  ),
  mutation(
    'rebuild-results.ts',
    'an unreadable call is said to be unknown',
    'call.argumentsError === undefined\n',
    'call.callId !== undefined\n',
  ),
  mutation(
    'rebuild-results.ts',
    'results of joined batches are mixed up',
    'home.slots[home.offset + paired.call.ordinal]',
    'home.slots[paired.call.ordinal]',
  ),
  mutation(
    'rebuild-results.ts',
    'a new order is not told',
    'paired.index !== home || !inOrder',
    'paired.index !== home',
  ),
  mutation(
    'rebuild-results.ts',
    'any results in place are left as they are',
    'paired.index !== home || paired.ordinal !== ordinal',
    'paired.index !== home',
  ),
  mutation(
    'rebuild-results.ts',
    'surplus results in place are left',
    'if (results.length !== calls.length) return false;',
    '',
  ),
];

const MEND = [
  mutation(
    'mend.ts',
    'replay data without scope stays',
    'if (replays.every(({ replay }) => isScoped(replay))) return item;',
    'return item;',
  ),
  mutation(
    'mend.ts',
    'replay data goes untold',
    "for (const place of places) repairs.push({ code: 'replay_removed', index, place });",
    '',
  ),
  mutation(
    'mend.ts',
    'all replay data goes',
    '(places.has(place) ? withoutReplay(part) : part)',
    'withoutReplay(part)',
  ),
  mutation('mend.ts', 'a valid list is copied', 'if (repairs.length === 0) return { items, repairs };', ''),
  mutation('mend.ts', 'repairs are not sorted', 'repairs.sort((left, right) => left.index - right.index)', 'repairs'),
  mutation('normalize.ts', 'nothing is mended', "isValid(items, { tail: 'closed' })", 'true'),
  mutation('normalize.ts', 'an open tail is left open', "{ tail: 'closed' }", "{ tail: 'open' }"),
  mutation(
    'empty-item.ts',
    'a signed empty text goes',
    " && block.text === '' && !hasReplay(block)",
    " && block.text === ''",
  ),
  mutation(
    'empty-item.ts',
    'an extension goes',
    "block.type !== 'extension' && block.text === ''",
    "(block.type === 'extension' || block.text === '')",
  ),
  mutation('empty-item.ts', 'signed empty thinking goes', "item.text === '' && !hasReplay(item)", "item.text === ''"),
  mutation('replay-scope.ts', 'the endpoint does not matter', 'endpoint === target.endpoint && ', ''),
  mutation('replay-scope.ts', 'the account does not matter', 'account === target.account && ', ''),
  mutation('replay-scope.ts', 'the model does not matter', ' && model === target.model', ''),
  mutation(
    'replay-scope.ts',
    'half a scope is one',
    '[endpoint, account, model].every',
    '[endpoint, account, model].some',
  ),
];

const MESSAGES = [
  mutation(
    'to-messages.ts',
    'foreign replay data goes out',
    'inScope(block.replay, target)) return block;',
    'target) return block;',
  ),
  mutation(
    'to-messages.ts',
    'parts are not put in order',
    'left.key - right.key || left.index - right.index',
    'left.index - right.index',
  ),
  mutation(
    'to-messages.ts',
    'a block without a part leaves its neighbour',
    "if ('part' in block && block.part !== undefined) part = block.part;",
    "part = 'part' in block && block.part !== undefined ? block.part : -1;",
  ),
  mutation(
    'to-messages.ts',
    'calls leave the order of their results',
    "if (block.type !== 'tool_use') return part;",
    'return part;',
  ),
  mutation(
    'to-messages.ts',
    'what really came is lost',
    '...(rawArguments === undefined ? {} : { rawInput: rawArguments })',
    '',
  ),
  mutation('to-messages.ts', 'results have no tool name', "name: call?.name ?? ''", "name: ''"),
  mutation('to-messages.ts', 'a summary looks like a wish', "'Summary of the conversation so far:'", "''"),
  mutation(
    'with-system-prompt.ts',
    'other system messages stay',
    "messages.filter((message) => message.role !== 'system')",
    'messages',
  ),
  mutation('with-system-prompt.ts', 'an empty prompt is sent', "prompt === '' ? others : ", ''),
  mutation('settle.ts', 'the last stored result wins', 'if (!byId.has(result.callId)) byId', 'byId'),
  mutation('settle.ts', 'the settlement does not matter', "ended?.status ?? 'aborted'", "'aborted'"),
  mutation(
    'settle.ts',
    'what was not started was cancelled',
    "ended?.status ?? 'aborted'",
    "ended?.status ?? 'cancelled'",
  ),
  mutation('settle.ts', 'the reason is lost', ', ended?.message', ''),
  mutation(
    'settle.ts',
    'an unreadable call is settled like others',
    'if (call.argumentsError !== undefined) return unparsableResult(call, call.argumentsError);',
    '',
  ),
  mutation(
    'settle.ts',
    'ids are looked up on the prototype',
    'Object.hasOwn(settlement, call.callId) ? settlement[call.callId] : undefined',
    'settlement[call.callId]',
  ),
];

const WIRE_IDS = [
  mutation(
    'wire-ids.ts',
    'a used id is used again',
    'rule.legal.test(nativeId) && !used.has(nativeId)',
    'rule.legal.test(nativeId)',
  ),
  mutation('wire-ids.ts', 'illegal ids go out', 'rule.legal.test(nativeId) && ', ''),
  mutation('wire-ids.ts', 'hashes are not checked', 'if (!used.has(id)) return id;', 'return id;'),
  mutation('wire-ids.ts', 'the fixed id does not matter', 'return free ? fixed : wireId', 'return wireId'),
  mutation('wire-ids.ts', 'a fixed id goes out though it is used', ' && !used.has(fixed)', ''),
  mutation('wire-ids.ts', 'used ids are forgotten', 'used.add(id);', ''),
  mutation('wire-ids.ts', 'Chat ids may have 41 characters', '{1,40}', '{1,41}'),
  mutation('wire-ids.ts', 'Mistral ids may have any length', '/^[a-zA-Z0-9]{9}$/', '/^[a-zA-Z0-9]+$/'),
];

export const MUTATIONS = [
  ...VALIDATE,
  ...PAIRING,
  ...GROUPS,
  ...BUILTIN,
  ...ARRANGE,
  ...CALLS,
  ...RESULTS,
  ...MEND,
  ...MESSAGES,
  ...WIRE_IDS,
];
