/** Rows of one statement: far below the parameters that either database takes. */
const CHUNK_ROWS = 200;

/** Slices of at most `size`, none of them empty, in order. */
export function chunked<T>(list: readonly T[], size: number = CHUNK_ROWS): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}
