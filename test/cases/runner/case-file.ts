/** A JSON value as a case file holds it; shapes are checked where they are used. */
export type Obj = Readonly<Record<string, unknown>>;

/** One case of a case file: input that some real system choked on, and what is right. */
export interface Case {
  readonly id: string;
  readonly topic: string;
  readonly provider: string;
  readonly kind: string;
  readonly title: string;
  readonly input: Obj;
  /** In words; the authority. */
  readonly expect: string;
  /** For machines; absent: the case is a named test. */
  readonly check?: Obj;
}

export function isObj(value: unknown): value is Obj {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objs(value: unknown): Obj[] {
  return Array.isArray(value) ? value.filter(isObj) : [];
}

export function str(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

/**
 * Reads a case file: one JSON object a line, blank lines skipped.
 *
 * @throws TypeError naming the line that is no case.
 */
export function readCases(text: string, file: string): Case[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const parsed: unknown = parse(line, `${file}:${index + 1}`);
    if (!isObj(parsed) || !isObj(parsed.input) || typeof parsed.id !== 'string' || typeof parsed.kind !== 'string') {
      throw new TypeError(`${file}:${index + 1}: not a case (needs id, kind, input)`);
    }
    const check = isObj(parsed.check) ? { check: parsed.check } : {};
    return [
      {
        id: parsed.id,
        topic: str(parsed.topic),
        provider: str(parsed.provider, 'any'),
        kind: parsed.kind,
        title: str(parsed.title),
        input: parsed.input,
        expect: str(parsed.expect),
        ...check,
      },
    ];
  });
}

function parse(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new TypeError(`${where}: not JSON`, { cause: error });
  }
}
