import type { Draft } from './render.ts';

/** Picks a position below `n`; seeded by the caller. */
export type Pick = (n: number) => number;

/** One way to break a valid request. Returns `false` where this request has nothing to break that way. */
export interface Mutation {
  readonly name: string;
  readonly apply: (body: Draft, pick: Pick) => boolean;
}

export function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The array under `key`, for changing in place. */
export function at(body: Draft, key: string): Draft[] {
  const value = body[key];
  return Array.isArray(value) ? value : [];
}

/** Applies `change` to one entry that fits; `false` when none does. */
export function one(
  entries: readonly Draft[],
  pick: Pick,
  fits: (entry: Draft) => boolean,
  change: (entry: Draft, list: Draft[]) => void,
): boolean {
  const found = entries.filter(fits);
  const chosen = found[found.length === 0 ? 0 : pick(found.length)];
  if (chosen === undefined) return false;
  change(chosen, entries as Draft[]);
  return true;
}

/** All content blocks of all messages. */
export function contents(body: Draft): Draft[] {
  return at(body, 'messages').flatMap((message) => at(message, 'content'));
}

/** Removes an entry from the list that holds it. */
export function remove(entry: Draft, list: Draft[]): void {
  list.splice(list.indexOf(entry), 1);
}

/** Sets a value somewhere inside: `assign(body, ['tools', 0, 'name'], 'x')`. */
export function assign(root: unknown, path: readonly (string | number)[], value: unknown): boolean {
  let node = root;
  for (const step of path.slice(0, -1)) node = (node as Record<string | number, unknown> | undefined)?.[step];
  const last = path.at(-1);
  if (typeof node !== 'object' || node === null || last === undefined) return false;
  if (value === undefined) delete (node as Record<string | number, unknown>)[last];
  else (node as Record<string | number, unknown>)[last] = value;
  return true;
}

/** Keys whose value is the user's own data: what stands below has no law. */
const FREE = ['input', 'properties', 'metadata', 'default'];

interface Place {
  readonly holder: Draft;
  readonly key: string;
}

function places(value: unknown, out: Place[], skip: readonly string[]): Place[] {
  if (Array.isArray(value)) for (const entry of value) places(entry, out, skip);
  if (!isDraft(value)) return out;
  for (const [key, inner] of Object.entries(value)) {
    out.push({ holder: value, key });
    if (!skip.includes(key) || Array.isArray(inner)) places(inner, out, skip);
  }
  return out;
}

/** Misspells one key anywhere the vendor's schema rules. JSON Schema ignores words it does not know, so schemas are left out. */
export const MISSPELT_KEY: Mutation = {
  name: 'a key is misspelt',
  apply: (body, pick) => {
    const found = places(body, [], [...FREE, 'parameters', 'input_schema']);
    const place = found[pick(found.length)];
    if (place === undefined) return false;
    place.holder[`${place.key}_x`] = place.holder[place.key];
    delete place.holder[place.key];
    return true;
  },
};

/** Puts a number where text must stand, and text where a number or flag must. */
export const WRONG_TYPE: Mutation = {
  name: 'a value has the wrong type',
  apply: (body, pick) => {
    const scalar = places(body, [], FREE).filter(
      ({ holder, key }) => !['object', 'undefined'].includes(typeof holder[key]),
    );
    const place = scalar[pick(scalar.length)];
    if (place === undefined) return false;
    place.holder[place.key] = typeof place.holder[place.key] === 'string' ? 17 : 'seventeen';
    return true;
  },
};
