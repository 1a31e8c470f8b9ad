import type { Json, JsonObject } from '../transcript/json.ts';

// An interface has no index signature, so the compiler takes none for JSON; and a row's JSON has no type. What passes
// here was written by this code base, under a schema version; it is not checked again.

/** A value of ours as the JSON that a row holds. */
export function toJson<T extends object>(value: T): JsonObject {
  return value as unknown as JsonObject;
}

/** What a row holds, as the type that it was written from. */
export function fromJson<T>(json: Json): T {
  return json as unknown as T;
}
