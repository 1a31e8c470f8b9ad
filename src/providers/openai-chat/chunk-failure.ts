import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';

/** Whether the value of an `error` key is one; some servers always send the key, empty. */
export function isError(value: Json | undefined): boolean {
  return typeof value === 'string' ? value !== '' : isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether a chunk, or a whole body that came with status 200, is an error in any of the shapes that servers use. */
export function isFailure(chunk: JsonObject): boolean {
  if (isError(chunk.error) || failedByCode(chunk.base_resp)) return true;
  if (Array.isArray(chunk.choices) || chunk.usage !== undefined) return false;
  if (chunk.object === 'error' || chunk.type === 'error') return true;
  const why = [chunk.detail, chunk.message, chunk.msg, chunk.error_msg].find(
    (words) => typeof words === 'string' && words !== '',
  );
  return why !== undefined && chunk.choices === undefined;
}

/** MiniMax's way, beside an empty list of choices. */
function failedByCode(base: Json | undefined): boolean {
  return isJsonObject(base) && typeof base.status_code === 'number' && base.status_code !== 0;
}
