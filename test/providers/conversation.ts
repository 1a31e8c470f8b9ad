import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { MediaLookup } from '../../src/providers/provider.ts';
import type { AgentItem, Api, MediaRef, Replay, ReplayScope, ResponseRef } from '../../src/transcript/items.ts';
import type { Json, JsonObject } from '../../src/transcript/json.ts';

/** A one-pixel PNG. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const bytes = Buffer.from(PIXEL, 'base64');
export const IMAGE: MediaRef = {
  sha256: createHash('sha256').update(bytes).digest('hex'),
  mediaType: 'image/png',
  byteLength: bytes.length,
};
export const MEDIA: MediaLookup = ({ sha256 }) => (sha256 === IMAGE.sha256 ? PIXEL : undefined);

export const user = (text: string, ...images: readonly MediaRef[]): AgentItem => ({
  kind: 'user_message',
  schemaVersion: 1,
  origin: 'user',
  content: [{ type: 'text', text }, ...images.map((media) => ({ type: 'image' as const, media }))],
});

/** Builds the items of one response, parts in the order of the calls made on it. */
export class ResponseItems {
  readonly items: AgentItem[] = [];
  readonly #ref: ResponseRef;
  readonly #scope: ReplayScope;
  #part = 0;

  constructor(ref: ResponseRef, scope: ReplayScope) {
    this.#ref = ref;
    this.#scope = scope;
  }

  #replay(data: JsonObject | undefined): { readonly replay?: Replay } {
    return data === undefined ? {} : { replay: { scope: this.#scope, data } };
  }

  reasoning(text: string, data?: JsonObject): this {
    const part = this.#part++;
    this.items.push({
      kind: 'reasoning_summary',
      schemaVersion: 1,
      response: this.#ref,
      text,
      part,
      ...this.#replay(data),
    });
    return this;
  }

  text(text: string, data?: JsonObject): this {
    const content = [{ type: 'text' as const, text, part: this.#part++, ...this.#replay(data) }];
    this.items.push({ kind: 'assistant_message', schemaVersion: 1, response: this.#ref, content });
    return this;
  }

  builtin(phase: 'call' | 'result', nativeId: string, name: string, payload: Json): this {
    const part = this.#part++;
    const event = { phase, nativeId, name, payload };
    this.items.push({
      kind: 'builtin_tool_event',
      schemaVersion: 1,
      response: this.#ref,
      part,
      ...event,
      ...this.#replay({ native: true }),
    });
    return this;
  }

  /** Calls with their results right behind. */
  calls(
    ...calls: readonly {
      id: string;
      name: string;
      args: JsonObject;
      output: string;
      image?: MediaRef;
      data?: JsonObject;
    }[]
  ): this {
    const made = calls.map(({ id, name, args, data }) => ({
      callId: `${this.#ref.id}/${id}`,
      nativeId: id,
      name,
      arguments: args,
      part: this.#part++,
      ...this.#replay(data),
    }));
    this.items.push({ kind: 'tool_call_batch', schemaVersion: 1, response: this.#ref, calls: made });
    const results = calls.map(({ id, output, image }) => ({
      callId: `${this.#ref.id}/${id}`,
      status: 'ok' as const,
      content: [
        { type: 'text' as const, text: output },
        ...(image === undefined ? [] : [{ type: 'image' as const, media: image }]),
      ],
    }));
    this.items.push({ kind: 'tool_result_batch', schemaVersion: 1, results });
    return this;
  }
}

export interface Endpoint {
  readonly provider: string;
  readonly api: Api;
  readonly scope: ReplayScope;
  readonly reasoning: (n: number) => { readonly text: string; readonly data: JsonObject };
}

/** Random conversations with one endpoint (`own`), some responses of which came from elsewhere, cut at safe points only. */
export function conversations(own: Endpoint): fc.Arbitrary<readonly AgentItem[]> {
  const words = fc.string({ unit: 'grapheme', minLength: 0, maxLength: 12 });
  const step = fc.record({
    foreign: fc.boolean(),
    thinks: fc.integer({ min: 0, max: 2 }),
    text: words,
    image: fc.boolean(),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom('read_file', 'files.list', 'x'.repeat(70)),
        id: fc.constantFrom('toolu_1', 'call|x', '', 'fc_2'),
        output: words,
      }),
      { maxLength: 3 },
    ),
  });
  const turn = fc.record({ asked: words, steps: fc.array(step, { minLength: 1, maxLength: 3 }) });
  return fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => {
    const items: AgentItem[] = [];
    let n = 0;
    for (const { asked, steps } of turns) {
      items.push(user(asked));
      for (const { foreign, thinks, text, calls, image } of steps) {
        n += 1;
        const scope = foreign ? { endpoint: 'https://elsewhere.test', account: 'a', model: 'm' } : own.scope;
        const ref: ResponseRef = {
          id: `r${n}`,
          provider: foreign ? 'other' : own.provider,
          model: scope.model,
          api: foreign ? 'openai-chat' : own.api,
        };
        const response = new ResponseItems(ref, scope);
        for (let i = 0; i < thinks; i += 1) {
          const { text: thought, data } = own.reasoning(n * 10 + i);
          response.reasoning(thought, foreign ? { reasoning_content: true } : data);
        }
        if (text !== '') response.text(text);
        if (calls.length > 0) {
          response.calls(
            ...calls.map((call, i) => ({ ...call, args: { path: `${i}` }, ...(image ? { image: IMAGE } : {}) })),
          );
        }
        items.push(...response.items);
      }
    }
    return items;
  });
}
