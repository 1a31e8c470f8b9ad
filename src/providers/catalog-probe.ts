import { isJsonObject, type Json, type JsonObject } from '../transcript/json.ts';

export interface ProbeOptions {
  /** The URL below which `/models` stands, such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** The key among them; they go to this host alone, redirects are not followed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
}

/**
 * Asks a server how large the context window of a model is, where the catalog does not know: `/models` (vLLM
 * `max_model_len`, OpenRouter and LM Studio `context_length`, Anthropic `max_input_tokens`, llama.cpp `meta.n_ctx`), then
 * llama.cpp's `/props`.
 *
 * `undefined` when the server does not say. @throws when it does not answer, and the signal's reason once aborted.
 */
export async function probeWindow(options: ProbeOptions): Promise<number | undefined> {
  const base = options.baseUrl.replace(/\/+$/, '');
  const models = await jsonAt(`${base}/models`, options);
  const entry = isJsonObject(models) ? entryOf(models, options.model) : undefined;
  const told = windowOfModel(entry);
  if (told !== undefined) return told;
  const props = await jsonAt(`${base.replace(/\/v1$/, '')}/props`, options);
  const settings = isJsonObject(props) ? props.default_generation_settings : undefined;
  // What the model was trained with comes last: a server may have been started with less.
  return (isJsonObject(settings) ? tokens(settings.n_ctx) : undefined) ?? tokens(metaOf(entry).n_ctx_train);
}

function entryOf(models: JsonObject, model: string): JsonObject | undefined {
  const list = Array.isArray(models.data) ? (models.data as readonly Json[]).filter(isJsonObject) : [];
  return list.find(({ id }) => id === model) ?? (list.length === 1 ? list[0] : undefined);
}

function windowOfModel(entry: JsonObject | undefined): number | undefined {
  if (entry === undefined) return undefined;
  return (
    tokens(entry.max_model_len) ??
    tokens(entry.max_context_length) ??
    tokens(entry.context_length) ??
    tokens(entry.context_window) ??
    tokens(entry.max_input_tokens) ??
    tokens(metaOf(entry).n_ctx)
  );
}

function metaOf(entry: JsonObject | undefined): JsonObject {
  return isJsonObject(entry?.meta) ? entry.meta : {};
}

function tokens(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}

/** `undefined` for a path that the server does not have, and for what is no JSON. */
async function jsonAt(
  url: string,
  { headers = {}, signal, fetch: ask = fetch }: ProbeOptions,
): Promise<Json | undefined> {
  try {
    const response = await ask(url, { headers, signal, redirect: 'error' });
    if (response.ok) return json(await response.text());
    // A server that still loads its model answers 503: what it knows then is not yet known.
    if (response.status >= 500) throw new Error(`${url} answers ${response.status}`);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function json(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
