import { createHash } from 'node:crypto';
import { parseCallArguments } from '../../../src/providers/call-arguments.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type {
  AgentItem,
  ContentBlock,
  MediaRef,
  ResponseRef,
  ToolCall,
  ToolCallBatch,
  ToolResult,
  UserMessage,
} from '../../../src/transcript/items.ts';
import { settle } from '../../../src/transcript/settle.ts';
import { isObj, type Obj, objs, str } from './case-file.ts';
import { nativeAnswer } from './native-answer.ts';
import { asText, expand } from './notation.ts';
import { assistantText, rawArguments, type Step } from './notation-step.ts';
import type { Answer } from './replay-server.ts';
import { parseMaker, type Target } from './target.ts';

/** A case's transcript as the product would have it, and what belongs to it. */
export interface BuiltTranscript {
  readonly items: readonly AgentItem[];
  readonly systemTexts: readonly string[];
  readonly userTexts: readonly string[];
  /** Names of all tools that were called. */
  readonly toolNames: readonly string[];
  /** Base64 by hash. */
  readonly media: ReadonlyMap<string, string>;
  /** The last usage that a server reported, and how many items it covers. */
  readonly reported?: { readonly tokens: number; readonly coveredItems: number } | undefined;
}

/** What is needed to let the product read an answer of history from its maker. */
export interface Makers {
  /** Gives the provider of a maker; its next request gets `answer`. */
  read(maker: Target, answer: Answer): Promise<{ readonly provider: Provider; readonly items: readonly AgentItem[] }>;
  idOf(maker: Target): string;
}

/**
 * Builds items from the transcript notation. Answers that carry what a provider must get back (reasoning, item ids, its
 * own tools' items) are read by the product from its maker's wire format; plain ones are written down directly. What was
 * recorded wrongly stays wrong: orphans, double results, results out of order.
 */
export async function buildTranscript(transcript: unknown, target: Target, makers: Makers): Promise<BuiltTranscript> {
  const builder = new TranscriptBuilder(target, makers);
  for (const step of objs(expand(transcript))) await builder.add(step);
  return builder;
}

class TranscriptBuilder implements BuiltTranscript {
  readonly items: AgentItem[] = [];
  readonly systemTexts: string[] = [];
  readonly userTexts: string[] = [];
  readonly toolNames: string[] = [];
  readonly media = new Map<string, string>();
  reported: BuiltTranscript['reported'];
  readonly #target: Target;
  readonly #makers: Makers;
  #calls = 0;
  #answers = 0;

  constructor(target: Target, makers: Makers) {
    this.#target = target;
    this.#makers = makers;
  }

  async add(step: Step): Promise<void> {
    if (step.system !== undefined) this.systemTexts.push(asText(step.system));
    else if (step.user !== undefined) this.items.push(this.#user(step.user));
    else if (step.summary !== undefined)
      this.items.push({ kind: 'compaction_summary', schemaVersion: 1, compactionId: 'c1', text: asText(step.summary) });
    else if (step.results !== undefined) this.#results(objs(step.results));
    else if (step.interrupt === true) this.#settle('cancelled');
    else if (step.process_killed === true) this.#settle('unknown_outcome');
    else await this.#answer(step);
    if (isObj(step.usage)) {
      const tokens = Number(step.usage.input ?? 0) + Number(step.usage.output ?? 0);
      this.reported = { tokens, coveredItems: this.items.length };
    }
  }

  #user(content: unknown): UserMessage {
    const blocks = this.#blocks(content);
    this.userTexts.push(...blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
    return { kind: 'user_message', schemaVersion: 1, origin: 'user', content: blocks };
  }

  #blocks(content: unknown): ContentBlock[] {
    if (!Array.isArray(content)) return [{ type: 'text', text: asText(content) }];
    return objs(content).flatMap((part): ContentBlock[] => {
      if (part.text !== undefined) return [{ type: 'text', text: asText(part.text) }];
      return isObj(part.image) ? [{ type: 'image', media: this.#image(part.image) }] : [];
    });
  }

  #image(image: Obj): MediaRef {
    const base64 =
      image.base64_bytes === undefined ? str(image.base64) : 'A'.repeat(Math.ceil(Number(image.base64_bytes) / 4) * 4);
    const bytes = Buffer.from(base64, 'base64');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.media.set(sha256, base64);
    return { sha256, mediaType: str(image.mediaType, 'image/png'), byteLength: bytes.length };
  }

  async #answer(step: Step): Promise<void> {
    for (const call of objs(step.calls)) this.toolNames.push(str(call.name));
    this.#answers += 1;
    if (!mustBeRead(step)) {
      this.items.push(...this.#written(step));
      return;
    }
    const maker = makerOf(step, this.#target);
    const { items } = await this.#makers.read(maker, nativeAnswer(maker.api, step, this.#answers));
    const cleared = isObj(step.reasoning) && step.reasoning.text_was_cleared === true;
    this.items.push(
      ...items.map((item) => (cleared && item.kind === 'reasoning_summary' ? { ...item, text: '' } : item)),
    );
  }

  /** Items of an answer that nothing must be replayed with. */
  #written(step: Step): AgentItem[] {
    const response: ResponseRef = {
      id: `resp-${this.#answers}`,
      provider: this.#makers.idOf(this.#target),
      model: 'm',
      api: this.#target.api,
    };
    const items: AgentItem[] = [];
    const text = step.assistant === undefined ? undefined : assistantText(step);
    if (text !== undefined) {
      items.push({ kind: 'assistant_message', schemaVersion: 1, response, content: [{ type: 'text', text, part: 0 }] });
    }
    const calls = objs(step.calls).map((call, i): ToolCall => this.#call(call, i + 1));
    if (calls.length > 0) items.push({ kind: 'tool_call_batch', schemaVersion: 1, response, calls });
    return items;
  }

  #call(call: Obj, part: number): ToolCall {
    this.#calls += 1;
    const common = { callId: `call-${this.#calls}`, nativeId: str(call.id), name: str(call.name), part };
    const [parsed] = parseCallArguments(rawArguments(call));
    if (parsed === undefined || parsed.ok) return { ...common, arguments: parsed?.value ?? {} };
    return { ...common, arguments: {}, rawArguments: parsed.raw, argumentsError: parsed.error };
  }

  /** Results go to the first call of that id without one in the latest batch that has such, else to the latest of all, else to nobody. */
  #results(entries: readonly Obj[]): void {
    const answered = new Set(
      this.items.flatMap((item) =>
        item.kind === 'tool_result_batch' ? item.results.map((result) => result.callId) : [],
      ),
    );
    const batches = this.items.flatMap((item) => (item.kind === 'tool_call_batch' ? [item.calls] : []));
    const results = entries.map((entry): ToolResult => {
      const open = batches.map((calls) =>
        calls.find((call) => call.nativeId === entry.id && !answered.has(call.callId)),
      );
      const call =
        open.findLast((each) => each !== undefined) ?? batches.flat().findLast((each) => each.nativeId === entry.id);
      if (call !== undefined) answered.add(call.callId);
      const status = entry.error === undefined ? 'ok' : 'error';
      return { callId: call?.callId ?? str(entry.id), status, content: this.#blocks(entry.output ?? entry.error) };
    });
    this.items.push({ kind: 'tool_result_batch', schemaVersion: 1, results });
  }

  /** Closes the open batch as the product does when a run ends so. */
  #settle(status: 'cancelled' | 'unknown_outcome'): void {
    const index = this.items.findLastIndex((item) => item.kind === 'tool_call_batch');
    const batch = this.items[index];
    if (batch?.kind !== 'tool_call_batch') return;
    const stored = this.items
      .slice(index + 1)
      .flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
    if (stored.length >= batch.calls.length) return;
    const rest = this.items.slice(index + 1).filter((item) => item.kind !== 'tool_result_batch');
    this.items.splice(index + 1, this.items.length, settle(batch, stored, endedSo(batch, status)), ...rest);
  }
}

function endedSo(batch: ToolCallBatch, status: 'cancelled' | 'unknown_outcome') {
  return Object.fromEntries(batch.calls.map((call) => [call.callId, { status }]));
}

function mustBeRead(step: Step): boolean {
  const hasItemId = (value: unknown) =>
    isObj(value) && (value.item_id !== undefined || value.extra_content !== undefined || value.extra !== undefined);
  return (
    isObj(step.reasoning) ||
    step.provider_call !== undefined ||
    step.custom_call !== undefined ||
    hasItemId(step.assistant) ||
    objs(step.calls).some(hasItemId)
  );
}

function makerOf(step: Step, target: Target): Target {
  const named = [step.reasoning, step.provider_call, step.custom_call].find(
    (part) => isObj(part) && typeof part.provider === 'string',
  );
  return isObj(named) ? parseMaker(str(named.provider), target) : target;
}
