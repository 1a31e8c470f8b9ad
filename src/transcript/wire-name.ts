/** What every provider takes as a tool's name: OpenAI's pattern, and Gemini's rule that no digit or dash comes first. */
const WIRE_NAME: RegExp = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * The name under which a tool goes to a provider: the name itself where it is legal, else a readable stand-in.
 *
 * Illegal characters become `_`; what is then too long is cut and gets a hash of the whole name, so that two long names
 * with a common start stay apart. Depends on nothing but the name. Two names may still map to one (`a.b` and `a_b`): the
 * tool registry refuses such a pair.
 */
export function wireName(name: string): string {
  if (WIRE_NAME.test(name)) return name;
  const clean = name.replace(/[^a-zA-Z0-9_-]/gu, '_');
  const legal = /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`;
  if (legal.length <= MAX_LENGTH) return legal;
  return `${legal.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash(name)}`;
}

/** Eight base-36 digits out of two FNV-1a passes (32 bits each, different offsets): enough to keep the tools of one agent apart. */
function hash(text: string): string {
  const high = fnv1a(text, 0x811c9dc5);
  const low = fnv1a(text, 0x01000193 ^ high);
  return (high * 2 ** 20 + (low >>> 12)).toString(36).padStart(HASH_LENGTH, '0').slice(-HASH_LENGTH);
}

function fnv1a(text: string, offset: number): number {
  let value = offset >>> 0;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}
