import { createAccumulator } from '../../../src/providers/accumulator.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { isObj, type Obj } from './case-file.ts';
import { makeProvider } from './make-provider.ts';
import type { SeenRequest } from './observation.ts';
import { type Answer, type ReplayServer, replayServer } from './replay-server.ts';
import type { Target } from './target.ts';
import type { Makers } from './transcript.ts';

/** What one run of a case works with: a server of recorded answers and the product's providers that talk to it. */
export interface Lab extends Makers {
  provider(target: Target): Provider;
  /** Model name that requests to a target carry. */
  model(target: Target): string;
  /** Further answers, in order. */
  give(answers: readonly Answer[]): void;
  /** Requests received since the last call of `give`. */
  requests(target: Target): SeenRequest[];
  mintCallId(): string;
  close(): Promise<void>;
}

export interface LabSettings {
  readonly model?: string | undefined;
  /** Tools that the provider runs itself, in its own form. */
  readonly builtinTools?: readonly JsonObject[];
  /** Settings of the case that choose how an endpoint is spoken to. */
  readonly settings?: Obj;
  /** An answer will hang: wait less for it. */
  readonly hangs?: boolean;
  /** The last answer is given again for ever. */
  readonly repeat?: boolean;
}

const MODELS: Readonly<Record<Target['api'], string>> = {
  'openai-chat': 'test-model',
  'openai-responses': 'test-model',
  anthropic: 'test-model',
};

/** Starts a server and hands out providers for it. Ids are deterministic. */
export async function openLab(options: LabSettings = {}): Promise<Lab> {
  const answers: Answer[] = [];
  const server = await replayServer(answers, { repeat: options.repeat === true });
  const providers = new Map<string, Provider>();
  let minted = 0;
  let from = 0;
  const mintCallId = () => `call-${(++minted).toString().padStart(4, '0')}`;
  const model = (target: Target) => options.model ?? MODELS[target.api];
  const provider = (target: Target): Provider => {
    const key = `${target.api} ${target.dialect}`;
    const known = providers.get(key) ?? makeProvider(target, { baseUrl: `${server.url}/${target.vendor}`, ...options });
    providers.set(key, known);
    return known;
  };
  return {
    provider,
    model,
    mintCallId,
    idOf: (target) => provider(target).id,
    give(more) {
      from = server.received.length;
      answers.push(...more);
    },
    requests: ({ api }) => seenRequests(server, from, api),
    async read(maker, answer) {
      answers.push(answer);
      const source = provider(maker);
      const accumulator = createAccumulator({
        response: { provider: source.id, api: source.api, model: model(maker) },
        scope: source.scope(model(maker)),
        mintCallId,
      });
      const request = {
        model: model(maker),
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
        tools: [],
      } as const;
      for await (const event of source.stream(request, { signal: new AbortController().signal }))
        accumulator.add(event);
      return { provider: source, items: accumulator.finish().items };
    },
    close: () => server.close(),
  };
}

function seenRequests(server: ReplayServer, from: number, api: Target['api']): SeenRequest[] {
  return server.received.slice(from).map(({ body }) => ({ api, body: isObj(body) ? body : {} }));
}
