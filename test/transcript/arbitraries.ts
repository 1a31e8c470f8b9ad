import fc from 'fast-check';
import type {
  AgentItem,
  AssistantMessage,
  BuiltinToolEvent,
  ContentBlock,
  Replay,
  ResponseRef,
  ToolCall,
  ToolCallBatch,
  ToolResult,
  ToolResultBatch,
  ToolResultStatus,
  UserMessage,
  UserOrigin,
} from '../../src/transcript/items.ts';

/** Runs of a property: 1,000 unless the environment asks for more or fewer. */
export const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

const STATUSES: readonly ToolResultStatus[] = [
  'ok',
  'error',
  'denied',
  'timed_out',
  'cancelled',
  'aborted',
  'unknown_outcome',
];
const ORIGINS: readonly UserOrigin[] = ['user', 'steer', 'control', 'observed'];

export const SCOPE: Replay['scope'] = { endpoint: 'https://api.test/v1', account: 'acct', model: 'model' };

export function responseRef(id: string): ResponseRef {
  return { id, provider: 'test', model: 'model', api: 'anthropic' };
}

export function user(text: string, origin: UserOrigin = 'user'): UserMessage {
  return { kind: 'user_message', schemaVersion: 1, origin, content: [{ type: 'text', text }] };
}

export function assistant(responseId: string, text: string): AssistantMessage {
  return {
    kind: 'assistant_message',
    schemaVersion: 1,
    response: responseRef(responseId),
    content: [{ type: 'text', text }],
  };
}

export function call(callId: string, extra: Partial<ToolCall> = {}): ToolCall {
  return { callId, nativeId: callId, name: 'tool', arguments: { id: callId }, ...extra };
}

export function calls(responseId: string, ...parts: readonly (string | ToolCall)[]): ToolCallBatch {
  const list = parts.map((part) => (typeof part === 'string' ? call(part) : part));
  return { kind: 'tool_call_batch', schemaVersion: 1, response: responseRef(responseId), calls: list };
}

export function result(callId: string, text = `result of ${callId}`, status: ToolResultStatus = 'ok'): ToolResult {
  return { callId, status, content: [{ type: 'text', text }] };
}

export function results(...parts: readonly (string | ToolResult)[]): ToolResultBatch {
  const list = parts.map((part) => (typeof part === 'string' ? result(part) : part));
  return { kind: 'tool_result_batch', schemaVersion: 1, results: list };
}

export function reasoning(responseId: string, text: string, replay?: Replay): AgentItem {
  return {
    kind: 'reasoning_summary',
    schemaVersion: 1,
    response: responseRef(responseId),
    text,
    ...(replay === undefined ? {} : { replay }),
  };
}

export function builtin(responseId: string, phase: 'call' | 'result', nativeId: string): BuiltinToolEvent {
  return {
    kind: 'builtin_tool_event',
    schemaVersion: 1,
    response: responseRef(responseId),
    phase,
    nativeId,
    name: 'web_search',
    payload: { of: nativeId },
  };
}

export function summary(text: string): AgentItem {
  return { kind: 'compaction_summary', schemaVersion: 1, compactionId: 'k1', text };
}

const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', ' ', '\n', 'word '.repeat(30), '漢字かな', '🙂👩‍👩‍👧', '\ud800', '\u0000'),
  },
);
const replay: fc.Arbitrary<Replay> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ scope: SCOPE, data: { signature: 'c2ln' } }) },
  { weight: 1, arbitrary: fc.constant({ scope: { ...SCOPE, model: 'other' }, data: { id: 'rs_1' } }) },
);
/** Replay data as a careless import could leave it. */
const unscoped = fc.constant({ data: { signature: 'c2ln' } } as unknown as Replay);

const media = fc.record({
  sha256: fc.constant('ab'.repeat(32)),
  mediaType: fc.constantFrom('image/png', 'audio/wav', 'application/pdf'),
  byteLength: fc.nat(5000),
});
/** Any content block of a user message or a result. */
export const contentBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('text' as const), text }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('image' as const, 'audio' as const, 'file' as const), media }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('extension' as const),
      name: text,
      data: fc.jsonValue() as fc.Arbitrary<string>,
    }),
  },
);

const content = fc.array(contentBlock, { maxLength: 3 });
export const userMessage: fc.Arbitrary<UserMessage> = fc.record({
  kind: fc.constant('user_message' as const),
  schemaVersion: fc.constant(1 as const),
  origin: fc.constantFrom(...ORIGINS),
  content,
});

const replayed = fc.option(replay, { nil: undefined, freq: 3 });
const carelessly = fc.option(fc.oneof({ weight: 3, arbitrary: replay }, { weight: 1, arbitrary: unscoped }), {
  nil: undefined,
  freq: 3,
});

function withReplay<Part extends object>(part: Part, data: Replay | undefined): Part {
  return data === undefined ? part : { ...part, replay: data };
}

/** One response as a legal recorder writes it, without its ids: {@link legalTranscript} gives those. */
interface Draft {
  readonly thought: string | undefined;
  readonly thoughtReplay: Replay | undefined;
  readonly text: string | undefined;
  readonly textKind: 'text' | 'refusal';
  readonly textReplay: Replay | undefined;
  readonly builtins: number;
  /** Whether the last builtin call gets its result at once, in the next response, or never (some providers report one item). */
  readonly lastBuiltin: 'now' | 'next' | 'never';
  readonly calls: readonly {
    readonly status: ToolResultStatus;
    readonly content: readonly ContentBlock[];
    readonly broken: boolean;
    readonly replay: Replay | undefined;
  }[];
  readonly parts: boolean;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  thought: fc.option(text, { nil: undefined }),
  thoughtReplay: replayed,
  text: fc.option(text, { nil: undefined, freq: 4 }),
  textKind: fc.constantFrom('text' as const, 'text' as const, 'refusal' as const),
  textReplay: replayed,
  builtins: fc.nat({ max: 2 }),
  lastBuiltin: fc.constantFrom('now' as const, 'next' as const, 'never' as const),
  calls: fc.array(
    fc.record({
      status: fc.constantFrom(...STATUSES),
      content,
      broken: fc.constantFrom(false, false, false, true),
      replay: replayed,
    }),
    { maxLength: 3 },
  ),
  parts: fc.boolean(),
});

interface Turn {
  readonly openings: readonly UserMessage[];
  readonly responses: readonly Draft[];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  openings: fc.array(userMessage, { minLength: 1, maxLength: 2 }),
  responses: fc.array(draft, { maxLength: 4 }),
});

/**
 * A transcript as a correct run leaves it, tail closed: turns of responses with interleaved thinking, builtin tools
 * (results in the same response or in the next, continuations after a pause), batches and their results.
 */
export const legalTranscript: fc.Arbitrary<readonly AgentItem[]> = fc
  .record({ start: fc.option(text, { nil: undefined, freq: 6 }), turns: fc.array(turn, { maxLength: 4 }) })
  .map(({ start, turns }) => {
    const scribe = new Scribe();
    if (start !== undefined) scribe.items.push(summary(start));
    for (const { openings, responses } of turns) scribe.turn(openings, responses);
    return scribe.items;
  });

/** Writes drafts down with fresh ids. */
class Scribe {
  readonly items: AgentItem[] = [];
  private responses = 0;
  private callIds = 0;
  private builtins = 0;
  private open: string | undefined;

  turn(openings: readonly UserMessage[], drafts: readonly Draft[]): void {
    this.items.push(...openings);
    let follows = false;
    for (const [index, current] of drafts.entries()) {
      const last = index === drafts.length - 1;
      // Without a batch only a pause may be followed by another response, and a pause needs a builtin tool.
      const goesOn = current.calls.length > 0 || current.builtins > 0 || (follows && this.open !== undefined);
      this.response(current, last || !goesOn);
      follows = true;
      if (!goesOn) break;
    }
    this.open = undefined;
  }

  private response(current: Draft, last: boolean): void {
    this.responses += 1;
    const response = responseRef(`r${this.responses}`);
    const numbered: AgentItem[] = [];
    const base = { schemaVersion: 1 as const, response };
    let part = 0;
    const at = (): object => (current.parts ? { part: part++ } : {});
    if (this.open !== undefined) numbered.push({ ...builtin(response.id, 'result', this.open), ...at() });
    this.open = undefined;
    if (current.thought !== undefined && (current.thought !== '' || current.thoughtReplay !== undefined)) {
      const thought = { kind: 'reasoning_summary' as const, ...base, text: current.thought, ...at() };
      numbered.push(withReplay(thought, current.thoughtReplay));
    }
    for (let index = 0; index < current.builtins; index += 1) {
      this.builtins += 1;
      const nativeId = `b${this.builtins}`;
      numbered.push({ ...builtin(response.id, 'call', nativeId), ...at() });
      const answer = index === current.builtins - 1 ? current.lastBuiltin : 'now';
      if (answer === 'next' && !last) this.open = nativeId;
      if (answer === 'now') numbered.push({ ...builtin(response.id, 'result', nativeId), ...at() });
    }
    if (current.text !== undefined && (current.text !== '' || current.textReplay !== undefined)) {
      const block = withReplay({ type: current.textKind, text: current.text, ...at() }, current.textReplay);
      numbered.push({ kind: 'assistant_message', ...base, content: [block] });
    }
    this.items.push(...numbered);
    this.batch(current, response, at);
  }

  private batch(current: Draft, response: ResponseRef, at: () => object): void {
    if (current.calls.length === 0) return;
    const made = current.calls.map((outcome) => {
      this.callIds += 1;
      const callId = `c${this.callIds}`;
      const broken = outcome.broken ? { arguments: {}, rawArguments: '{"a', argumentsError: 'cut off' } : {};
      const status = outcome.broken ? ('error' as const) : outcome.status;
      const one = withReplay({ ...call(callId, broken), nativeId: `n${this.callIds % 3}`, ...at() }, outcome.replay);
      return { one, answer: { callId, status, content: outcome.content } };
    });
    this.items.push({ ...calls(response.id, ...made.map(({ one }) => one)), response });
    this.items.push(results(...made.map(({ answer }) => answer)));
  }
}

const responseId = fc.constantFrom('r1', 'r2', 'r3', 'r4');
const callId = fc.constantFrom('c1', 'c2', 'c3', '', 'c1~2', '__proto__');
const builtinId = fc.constantFrom('b1', 'b2', '');
const response = responseId.map(responseRef);

const anyCall: fc.Arbitrary<ToolCall> = fc
  .record({ callId, nativeId: fc.constantFrom('', 'call_0', 'x'.repeat(80)), replay: carelessly, shape: fc.nat(7) })
  .map(({ callId: id, nativeId, replay: data, shape }) => {
    const base = withReplay(call(id, { nativeId }), data);
    if (shape === 0) return { ...base, arguments: {}, rawArguments: '[', argumentsError: 'not JSON' };
    // A cast as an old payload or an import would bring it.
    if (shape === 1) return { ...base, arguments: [1] as unknown as ToolCall['arguments'] };
    if (shape === 2) return { ...base, arguments: null as unknown as ToolCall['arguments'] };
    return base;
  });
const anyResult: fc.Arbitrary<ToolResult> = fc.record({ callId, status: fc.constantFrom(...STATUSES), content });

/** Any one item, ids from a small alphabet so that they collide. */
export const anyItem: fc.Arbitrary<AgentItem> = fc.oneof(
  { weight: 2, arbitrary: userMessage },
  {
    weight: 2,
    arbitrary: fc.record({ response, texts: fc.array(text, { maxLength: 2 }), replay: carelessly }).map((drawn) => ({
      kind: 'assistant_message' as const,
      schemaVersion: 1 as const,
      response: drawn.response,
      content: drawn.texts.map((one) => withReplay({ type: 'text' as const, text: one }, drawn.replay)),
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ response, list: fc.array(anyCall, { maxLength: 3 }) })
      .map((drawn) => ({ ...calls('', ...drawn.list), response: drawn.response })),
  },
  { weight: 3, arbitrary: fc.array(anyResult, { maxLength: 3 }).map((list) => results(...list)) },
  {
    weight: 1,
    arbitrary: fc
      .record({ response, text, replay: carelessly })
      .map((drawn) => ({ ...reasoning('', drawn.text, drawn.replay), response: drawn.response }) as AgentItem),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ id: responseId, phase: fc.constantFrom('call' as const, 'result' as const), nativeId: builtinId })
      .map((drawn) => builtin(drawn.id, drawn.phase, drawn.nativeId)),
  },
  { weight: 1, arbitrary: text.map(summary) },
);

/** What may happen to a legal transcript on its way through somebody's code. */
type Damage =
  | { readonly what: 'drop' | 'double' | 'to_end'; readonly where: number }
  | { readonly what: 'insert'; readonly where: number; readonly item: AgentItem }
  | { readonly what: 'cut_head' | 'cut_tail'; readonly where: number };

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ what: fc.constantFrom('drop' as const, 'double' as const, 'to_end' as const), where: fc.nat() }),
  fc.record({ what: fc.constantFrom('cut_head' as const, 'cut_tail' as const), where: fc.nat() }),
  fc.record({ what: fc.constant('insert' as const), where: fc.nat(), item: anyItem }),
);

function damaged(items: readonly AgentItem[], { what, where, ...rest }: Damage): readonly AgentItem[] {
  if (items.length === 0) return items;
  const at = where % items.length;
  const item = items[at];
  if (item === undefined) return items;
  switch (what) {
    case 'drop':
      return items.toSpliced(at, 1);
    case 'double':
      return items.toSpliced(at, 0, item);
    case 'to_end':
      return [...items.toSpliced(at, 1), item];
    case 'cut_head':
      return items.slice(at);
    case 'cut_tail':
      return items.slice(0, at);
    case 'insert':
      return 'item' in rest ? items.toSpliced(at, 0, rest.item) : items;
  }
}

/** Lists that no run wrote: items thrown together at random, and legal transcripts that were damaged a few times. */
export const brokenTranscript: fc.Arbitrary<readonly AgentItem[]> = fc.oneof(
  fc.array(anyItem, { maxLength: 14 }),
  fc
    .tuple(legalTranscript, fc.array(damage, { minLength: 1, maxLength: 4 }))
    .map(([items, list]) => list.reduce(damaged, items)),
);

export const anyTranscript: fc.Arbitrary<readonly AgentItem[]> = fc.oneof(legalTranscript, brokenTranscript);
