import { isDeepStrictEqual } from 'node:util';
import { isObj, type Obj } from './case-file.ts';
import type { Check, CheckTable } from './check.ts';
import { differs, show } from './compare.ts';
import type { Observation, SeenRequest } from './observation.ts';
import { shapeProblem } from './shape.ts';
import { messagesOf, partsOf, type WirePart } from './wire-reader.ts';

/** The request that a check speaks of: the next one, where the case is about an answer; else the last that was sent. */
function requestOf(seen: Observation): SeenRequest | undefined {
  return seen.next ?? seen.requests?.at(-1);
}

/** A check of that request. */
const on =
  (check: (want: unknown, request: SeenRequest, seen: Observation) => string | undefined): Check =>
  (want, seen) => {
    const request = requestOf(seen);
    return request === undefined ? 'no request was observed' : check(want, request, seen);
  };

const must = (holds: boolean, seen: unknown): string | undefined => (holds ? undefined : `seen ${show(seen)}`);
const texts = (parts: readonly WirePart[]) => parts.map((part) => part.text);

/** Ids of calls: those sent in a request, else those of the answer. */
function callIds(seen: Observation): string[] {
  const request = seen.calls === undefined ? requestOf(seen) : undefined;
  return request === undefined
    ? (seen.calls ?? []).map((call) => call.callId)
    : partsOf(request, 'call').map((part) => part.id);
}

/** Keys about what the (next) request holds. */
export const REQUEST_CHECKS: CheckTable = {
  shape: on((want, request, seen) =>
    Array.isArray(want) ? shapeProblem(want.map(String), request, seen.userTexts ?? []) : 'must be a list',
  ),
  unique_ids: (want, seen) => {
    const ids = callIds(seen);
    if (ids.length === 0) return 'no call was observed';
    return must((new Set(ids).size === ids.length) === want, ids);
  },
  id_pattern: on((want, request) => {
    const ids = [...partsOf(request, 'call'), ...partsOf(request, 'result')].map((part) => part.id);
    return ids.length === 0
      ? 'no id was sent'
      : must(
          ids.every((id) => new RegExp(String(want)).test(id)),
          ids,
        );
  }),
  max_id_length: on((want, request) => {
    const ids = [...partsOf(request, 'call'), ...partsOf(request, 'result')].map((part) => part.id);
    return ids.length === 0
      ? 'no id was sent'
      : must(
          ids.every((id) => id.length <= Number(want)),
          ids,
        );
  }),
  call_count: on((want, request) => differs(want, partsOf(request, 'call').length)),
  result_outputs_in_order: on((want, request) => {
    const outputs = texts(partsOf(request, 'result'));
    const wanted = Array.isArray(want) ? want.map(String) : [];
    return must(outputs.length === wanted.length && wanted.every((output, i) => outputs[i]?.includes(output)), outputs);
  }),
  replayed_arguments_valid_json: on((want, request) => {
    const wrong = texts(partsOf(request, 'call')).filter((text) => !isObjectText(text));
    return must((wrong.length === 0) === want, wrong);
  }),
  replay_block: on((want, request) =>
    must(
      holdsBlock(request.body, want),
      messagesOf(request).map((message) => message.raw),
    ),
  ),
  replay_extra: on((want, request) => {
    const calls = partsOf(request, 'call').map((part) => part.raw);
    return must(
      calls.some((call) => isDeepStrictEqual(call.extra_content, want)),
      calls,
    );
  }),
  messages_with_reasoning_content: on((want, request) => {
    const seen = messagesOf(request).flatMap((message, i) =>
      typeof message.raw.reasoning_content === 'string' ? [i] : [],
    );
    return differs(want, seen);
  }),
  all_assistant_have_reasoning_content: on((want, request) => {
    const assistants = messagesOf(request).filter((message) => message.label === 'assistant');
    return must(
      assistants.every((message) => typeof message.raw.reasoning_content === 'string') === want,
      assistants.map((message) => message.raw),
    );
  }),
  block_order: on((want, request) => {
    const orders = blockOrders(request);
    return must(Array.isArray(want) && orders.some((order) => holdsRun(order, want)), orders);
  }),
  image_sent: on((want, request) =>
    must(
      partsOf(request, 'image').length > 0 === want,
      messagesOf(request).map((message) => message.label),
    ),
  ),
  system_verbatim_once: on((want, request, seen) => {
    if (seen.systemText === undefined) return 'the case has no system text';
    const times = texts(partsOf(request, 'text')).reduce(
      (sum, text) => sum + text.split(seen.systemText ?? '\0').length - 1,
      0,
    );
    return must((times === 1) === want, `${times} times`);
  }),
  no_orphan_results: on((want, request) => must((orphans(request).length === 0) === want, orphans(request))),
  no_unanswered_calls: on((want, request) => must((unanswered(request).length === 0) === want, unanswered(request))),
  no_blank_text_blocks: on((want, request) => {
    const blank = [...partsOf(request, 'text'), ...partsOf(request, 'result').flatMap(innerTexts)].filter(
      (part) => part.text.trim() === '',
    );
    return must(
      (blank.length === 0) === want,
      blank.map((part) => part.raw),
    );
  }),
  max_cache_control: on((want, request) => {
    const marks = JSON.stringify(request.body).split('"cache_control":').length - 1;
    return must(marks <= Number(want), marks);
  }),
  next_request_contains: on((want, request) => {
    const wanted = Array.isArray(want) ? want : [want];
    const body = JSON.stringify(request.body);
    const missing = wanted.filter((entry) =>
      typeof entry === 'string' ? !body.includes(JSON.stringify(entry).slice(1, -1)) : !holdsBlock(request.body, entry),
    );
    return missing.length === 0 ? undefined : `${show(missing)} is not in ${show(request.body)}`;
  }),
  body_below: on((want, request) => {
    const bytes = Buffer.byteLength(JSON.stringify(request.body));
    return must(bytes < Number(want), bytes);
  }),
  requested_stream: (want, seen) => {
    const streams = seen.requests?.map((request) => request.body.stream ?? false);
    return streams === undefined || streams.length === 0
      ? 'no request was observed'
      : must(
          streams.every((stream) => stream === want),
          streams,
        );
  },
};

/** Types of the blocks of each message, and of all items in a row, for formats whose items stand by themselves. */
function blockOrders(request: SeenRequest): string[][] {
  const messages = messagesOf(request);
  const inside = messages.map((message) => message.parts.map((part) => String(part.raw.type ?? part.kind)));
  return [...inside, messages.map((message) => String(message.raw.type ?? message.label))];
}

/** Whether `run` stands in `order` without a gap. */
function holdsRun(order: readonly string[], run: readonly unknown[]): boolean {
  return order.some((_, from) => isDeepStrictEqual(order.slice(from, from + run.length), run));
}

function isObjectText(text: string): boolean {
  try {
    return isObj(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Whether a value that equals `want` (cache marks aside) stands anywhere in the body. */
function holdsBlock(value: unknown, want: unknown): boolean {
  if (isObj(value)) {
    const { cache_control: _, ...rest } = value;
    return includes(rest, want) || Object.values(value).some((inner) => holdsBlock(inner, want));
  }
  return Array.isArray(value) && value.some((inner) => holdsBlock(inner, want));
}

function includes(value: Obj, want: unknown): boolean {
  return isObj(want) && Object.entries(want).every(([key, inner]) => isDeepStrictEqual(value[key], inner));
}

function innerTexts(part: WirePart): WirePart[] {
  const content = part.raw.content ?? part.raw.output;
  if (!Array.isArray(content)) return typeof content === 'string' && content !== '' ? [part] : [];
  return content
    .filter(isObj)
    .flatMap((raw) => (typeof raw.text === 'string' ? [{ ...part, raw, text: raw.text }] : []));
}

function orphans(request: SeenRequest): string[] {
  const open = new Set<string>();
  return messagesOf(request)
    .flatMap((message) => message.parts)
    .flatMap((part) => {
      if (part.kind === 'call') open.add(part.id);
      return part.kind === 'result' && !open.delete(part.id) ? [part.id] : [];
    });
}

function unanswered(request: SeenRequest): string[] {
  const answers = partsOf(request, 'result').map((part) => part.id);
  return partsOf(request, 'call').flatMap((part) => (answers.includes(part.id) ? [] : [part.id]));
}
