import { LOCAL_SERVERS } from './known-providers.ts';

/** A model that a server on this machine offers. */
export interface LocalModel {
  readonly provider: string;
  readonly model: string;
  readonly baseURL: string;
}

/** Milliseconds that a server has to answer; it is on this machine. */
const PROBE_MS = 300;

/** Asks all known ports at once which models they have; the first server of the list that has one is taken. */
export async function firstLocalModel(
  servers: Readonly<Record<string, { readonly baseURL: string }>> = LOCAL_SERVERS,
  probeMs: number = PROBE_MS,
): Promise<LocalModel | undefined> {
  const answers = await Promise.all(
    Object.entries(servers).map(async ([provider, { baseURL }]) => {
      const model = (await modelsAt(baseURL, probeMs)).find((id) => !/embed|rerank|whisper/i.test(id));
      return model === undefined ? undefined : { provider, model, baseURL };
    }),
  );
  return answers.find((answer) => answer !== undefined);
}

/** Ids by `GET /models`; none when nobody answers in time, or what answers is something else. */
async function modelsAt(baseURL: string, probeMs: number): Promise<readonly string[]> {
  try {
    const response = await fetch(`${baseURL}/models`, { signal: AbortSignal.timeout(probeMs), redirect: 'error' });
    if (!response.ok) return [];
    const body: unknown = await response.json();
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined;
    return Array.isArray(data) ? data.flatMap((one) => (typeof one?.id === 'string' ? [one.id] : [])) : [];
  } catch {
    return [];
  }
}
