import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineJsonTool, defineTool } from '../../src/tools/define-tool.ts';
import type { Json, JsonObject } from '../../src/transcript/json.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

function tool(input: z.ZodType) {
  return defineTool({ name: 'probe', description: 'd', input, execute: () => 'ok' });
}
function message(input: z.ZodType, args: JsonObject): string {
  const parsed = tool(input).parse(args);
  return parsed.ok ? `ok: ${JSON.stringify(parsed.value)}` : parsed.message;
}

test('a tool without input takes no arguments and ignores what comes', () => {
  const made = defineTool({ name: 'now', description: 'd', execute: () => 'noon' });
  expect(made.inputSchema).toEqual({ type: 'object', properties: {} });
  expect(made.parse({ surplus: 1 })).toEqual({ ok: true, value: {} });
});

test.each<[string, JsonObject | null | undefined]>([
  ['an empty schema', {}],
  ['null', null],
  ['nothing', undefined],
  ['a bare object', { type: 'object' }],
])('%s means an object without properties', (_, inputSchema) => {
  const made = defineJsonTool({
    name: 'now',
    description: 'd',
    execute: () => 1,
    ...(inputSchema === undefined ? {} : { inputSchema }),
  });
  expect(made.inputSchema).toEqual({ type: 'object', properties: {} });
});

test('types that JSON Schema cannot say load, and get what they need from what a model can write', () => {
  const made = tool(
    z.object({
      when: z.date(),
      big: z.bigint(),
      tags: z.set(z.string()),
      ages: z.map(z.string(), z.date()),
      length: z.string().transform((s) => s.length),
      open: z.custom<unknown>(() => true),
    }),
  );
  expect(made.inputSchema).toMatchObject({
    type: 'object',
    properties: { when: { type: 'string', format: 'date-time' }, big: { type: 'string' }, length: { type: 'string' } },
  });
  const parsed = made.parse({
    when: '2026-01-02T03:04:05Z',
    big: '12345678901234567890',
    tags: ['a', 'a'],
    ages: [['x', '2026-01-02']],
    length: 'four',
    open: 1,
  });
  expect(parsed).toEqual({
    ok: true,
    value: {
      when: new Date('2026-01-02T03:04:05Z'),
      big: 12345678901234567890n,
      tags: new Set(['a']),
      ages: new Map([['x', new Date('2026-01-02')]]),
      length: 4,
      open: 1,
    },
  });
});

test('a description of the author is not replaced by that of a stand-in', () => {
  const made = tool(z.object({ when: z.date().describe('Departure.') }));
  expect(made.inputSchema.properties).toMatchObject({ when: { description: 'Departure.', format: 'date-time' } });
});

test.each([
  ['a missing field', z.object({ city: z.string() }), {}, 'input.city: missing, expected string'],
  ['a wrong type', z.object({ city: z.string() }), { city: 5 }, 'input.city: expected string, got number'],
  ['a number as text', z.object({ n: z.number() }), { n: '5' }, 'input.n: expected number, got string'],
  [
    'a nested place',
    z.object({ a: z.array(z.object({ b: z.boolean() })) }),
    { a: [{ b: 1 }] },
    'input.a[0].b: expected boolean, got number',
  ],
  ['an unknown field', z.strictObject({ a: z.number() }), { a: 1, b: 2 }, 'input.b: there is no such field'],
  ['a wrong choice', z.object({ e: z.enum(['x', 'y']) }), { e: 'z' }, 'input.e: expected one of "x"|"y"'],
  ['an odd key', z.record(z.string(), z.number()), { 'a b': 'x' }, 'input["a b"]: expected number, got string'],
  ['a bad date', z.object({ d: z.date() }), { d: 'soon' }, 'input.d: expected date, got string'],
] as const)('%s is told so that the model can mend it', (_, input, args, expected) => {
  expect(message(input, args)).toBe(expected);
});

test('surplus fields are dropped unless the schema forbids them', () => {
  expect(message(z.object({ city: z.string() }), { city: 'Oslo', extra: 1 })).toBe('ok: {"city":"Oslo"}');
});

test('a union is checked whole, by the branch that comes nearest', () => {
  const union = z.discriminatedUnion('command', [
    z.object({ command: z.literal('create'), path: z.string() }),
    z.object({ command: z.literal('delete'), id: z.number() }),
  ]);
  expect(message(union, { command: 'create', path: 'a' })).toBe('ok: {"command":"create","path":"a"}');
  expect(message(union, { command: 'create', id: 1 })).toBe('input.path: missing, expected string');
  expect(message(union, { command: 'move' })).toContain("'create' | 'delete'");
});

test('prototypes cannot be reached by arguments', () => {
  const args: JsonObject = JSON.parse(
    '{"__proto__":{"admin":true},"city":"B","deep":{"__proto__":{"admin":true},"x":1}}',
  );
  for (const input of [z.looseObject({ city: z.string() }), z.record(z.string(), z.any())]) {
    const parsed = tool(input).parse(args);
    expect(parsed).toEqual({ ok: true, value: { city: 'B', deep: { x: 1 } } });
  }
  const json = defineJsonTool({ name: 'j', description: 'd', inputSchema: { type: 'object' }, execute: () => 1 });
  expect(json.parse(args)).toEqual({ ok: true, value: { city: 'B', deep: { x: 1 } } });
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test('a check that throws or waits is a message, not an exception', () => {
  expect(
    message(
      z.object({}).transform(() => {
        throw new Error('boom');
      }),
      {},
    ),
  ).toContain('boom');
  expect(
    message(
      z.object({}).refine(async () => true),
      {},
    ),
  ).toContain('input: ');
});

test.each([
  ['a text', z.string()],
  ['a list', z.array(z.string())],
  ['a union with a text', z.union([z.object({}), z.string()])],
])('%s as arguments is refused by name when the tool is defined', (_, input) => {
  expect(() => tool(input)).toThrow(/"probe".*must be an object/);
});

test('a set says what its members are, and arguments that may be null are an object', () => {
  const Tree = z.object({
    tag: z.string(),
    get kids() {
      return z.array(Tree).optional();
    },
  });
  const made = tool(z.object({ tags: z.set(z.string()), trees: z.set(Tree) }).nullable());
  expect(JSON.parse(JSON.stringify(made.inputSchema.anyOf))[0].properties).toEqual({
    tags: { type: 'array', uniqueItems: true, items: { type: 'string' } },
    trees: { type: 'array', uniqueItems: true, items: {} },
  });
});

test.each(['', '   ', 'x'.repeat(129)])('the name %j is refused', (name) => {
  expect(() => defineTool({ name, description: 'd', execute: () => 1 })).toThrow(TypeError);
});

test('a label is one short line, and a broken one falls back to the name', () => {
  const read = defineTool({
    name: 'read_file',
    description: 'd',
    input: z.object({ path: z.string() }),
    execute: () => 1,
  });
  expect(read.label({ path: 'src/a.ts' })).toBe('read_file src/a.ts');
  expect(read.label({ path: 'a\n\u001b[31mred\u202egnp' })).toBe('read_file a\\n\\u{1b}[31mred\\u{202e}gnp');
  expect(read.label({ path: 'x'.repeat(500) })).toHaveLength(120);
  const broken = defineTool({
    name: 'b',
    description: 'd',
    label: () => {
      throw new Error('x');
    },
    execute: () => 1,
  });
  expect(broken.label({})).toBe('b');
});

/** A dumb second definition over a small alphabet: what zod says of the same schema. */
test('the JSON Schema check agrees with zod on what zod generated', () => {
  const schema = z.strictObject({
    s: z.string().min(2).max(3).optional(),
    n: z.number().int().min(0).max(2).nullable(),
    l: z.array(z.union([z.literal('a'), z.boolean()])).max(2),
    o: z.object({ k: z.enum(['x', 'y']) }).optional(),
  });
  const made = tool(schema);
  const json = defineJsonTool({ name: 'j', description: 'd', inputSchema: made.inputSchema, execute: () => 1 });
  const leaf = fc.constantFrom('a', 'abc', 'x', 'abcd', -1, 0, 1, 2, 3, 0.5, true, null);
  const mostly = (...good: Json[]) =>
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: leaf });
  const args = fc.record(
    {
      s: mostly('ab', 'abc'),
      n: mostly(0, 1, 2, null),
      l: fc.oneof(
        { weight: 9, arbitrary: fc.array(mostly('a', true), { maxLength: 3 }) },
        { weight: 1, arbitrary: leaf },
      ),
      o: fc.record({ k: mostly('x', 'y'), other: leaf }, { requiredKeys: ['k'] }),
    },
    { requiredKeys: ['n', 'l'] },
  );
  const seen = { fits: 0, not: 0 };
  fc.assert(
    fc.property(args, (value) => {
      const expected = schema.safeParse(value).success;
      seen[expected ? 'fits' : 'not'] += 1;
      expect(json.parse(value as JsonObject).ok).toBe(expected);
    }),
    { numRuns: RUNS, seed: 7 },
  );
  expect(Math.min(seen.fits, seen.not)).toBeGreaterThan(RUNS / 5);
});

test('a schema that refers to itself without end is checked within bounds', () => {
  const inputSchema: JsonObject = {
    type: 'object',
    anyOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }],
    required: ['a'],
  };
  const made = defineJsonTool({ name: 'loop', description: 'd', inputSchema, execute: () => 1 });
  expect(made.parse({})).toMatchObject({ ok: false });
});
