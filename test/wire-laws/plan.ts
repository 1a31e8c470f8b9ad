import fc from 'fast-check';

/** A conversation that any of the three formats can hold; the renderers turn it into valid requests. */
export interface Plan {
  readonly system: string | undefined;
  readonly thinking: boolean;
  readonly turns: readonly Turn[];
}

export interface Turn {
  readonly user: string;
  readonly image: boolean;
  readonly steps: readonly Step[];
  /** Absent in the last turn, which waits for the model. */
  readonly answer: string;
}

export interface Step {
  readonly thought: string;
  readonly text: string | undefined;
  readonly calls: readonly {
    readonly name: string;
    readonly args: Readonly<Record<string, string>>;
    readonly output: string;
  }[];
}

export const TOOL_NAMES = ['read_file', 'list-dir', 'search2'] as const;

/** A one-pixel PNG. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `${text}.`);
const call = fc.record({
  name: fc.constantFrom(...TOOL_NAMES),
  args: fc.dictionary(fc.constantFrom('path', 'query', 'depth'), words, { maxKeys: 2 }),
  output: words,
});
const step = fc.record({
  thought: words,
  text: fc.option(words, { nil: undefined }),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
});
const turn = fc.record({
  user: words,
  image: fc.boolean(),
  steps: fc.array(step, { maxLength: 2 }),
  answer: words,
});

export const plan: fc.Arbitrary<Plan> = fc.record({
  system: fc.option(words, { nil: undefined }),
  thinking: fc.boolean(),
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
});

/** Arguments of every tool in a plan. */
export const PARAMETERS = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'where' },
    query: { type: 'string' },
    depth: { type: 'string' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
  },
  required: ['path'],
  additionalProperties: false,
};
