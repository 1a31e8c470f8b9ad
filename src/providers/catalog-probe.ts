import { isJsonObject, type Json, type JsonObject } from '../transcript/json.ts';

export interface ProbeOptions {
  /** As the client has it, such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
}

/**
 * Asks an OpenAI-compatible server how large the context window of a model is, where the catalog does not know: `/models`
 * (vLLM `max_model_len`, OpenRouter and LM Studio `context_length`, llama.cpp `meta.n_ctx`), then llama.cpp's `/props`.
 *
 * `undefined` when the server does not say, or does not answer. @throws the signal's reason once aborted.
 */
export async function probeWindow(options: ProbeOptions): Promise<number | undefined> {
  const base = options.baseUrl.replace(/\/+$/, '');
  const models = await jsonAt(`${base}/models`, options);
  const fromModels = isJsonObject(models) ? windowOfModel(entryOf(models, options.model)) : undefined;
  if (fromModels !== undefined) return fromModels;
  const props = await jsonAt(`${base.replace(/\/v1$/, '')}/props`, options);
  const settings = isJsonObject(props) ? props.default_generation_settings : undefined;
  return isJsonObject(settings) ? tokens(settings.n_ctx) : undefined;
}

function entryOf(models: JsonObject, model: string): JsonObject | undefined {
  const list = Array.isArray(models.data) ? (models.data as readonly Json[]).filter(isJsonObject) : [];
  return list.find(({ id }) => id === model) ?? (list.length === 1 ? list[0] : undefined);
}

function windowOfModel(entry: JsonObject | undefined): number | undefined {
  if (entry === undefined) return undefined;
  const meta = isJsonObject(entry.meta) ? entry.meta : {};
  return (
    tokens(entry.max_model_len) ??
    tokens(entry.max_context_length) ??
    tokens(entry.context_length) ??
    tokens(entry.context_window) ??
    tokens(meta.n_ctx) ??
    tokens(meta.n_ctx_train)
  );
}

function tokens(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}

async function jsonAt(url: string, options: ProbeOptions): Promise<Json | undefined> {
  const headers = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
  try {
    const response = await (options.fetch ?? fetch)(url, { headers, signal: options.signal });
    return response.ok ? ((await response.json()) as Json) : undefined;
  } catch {
    // Not there, not JSON: then it does not say. Only a cancel is told.
    options.signal.throwIfAborted();
    return undefined;
  }
}
