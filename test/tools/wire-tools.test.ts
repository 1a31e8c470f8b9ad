import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ProviderError } from '../../src/providers/errors.ts';
import { flatRoot } from '../../src/providers/schema/flat-root.ts';
import { inlineRefs } from '../../src/providers/schema/inline-refs.ts';
import { strictSchema } from '../../src/providers/schema/strict-schema.ts';
import { type ToolRules, wireTools } from '../../src/providers/schema/wire-tools.ts';
import { defineJsonTool, defineTool } from '../../src/tools/define-tool.ts';
import type { Json, JsonObject } from '../../src/transcript/json.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const OPENAI: ToolRules = { maxTools: 128, refs: 'keep', strict: 'auto' };

function schemaOf(input: z.ZodType): JsonObject {
  return defineTool({ name: 't', description: 'd', input, execute: () => 1 }).inputSchema;
}
const accepts = (schema: JsonObject, args: JsonObject): boolean =>
  defineJsonTool({ name: 't', description: 'd', inputSchema: schema, execute: () => 1 }).parse(args).ok;

const Location = z.object({ id: z.string() });
const Tree = z.object({
  value: z.string(),
  get kids() {
    return z.array(Tree).optional();
  },
});

describe('schemas that others wrote', () => {
  const sent = (inputSchema: JsonObject): JsonObject | undefined =>
    wireTools([{ name: 't', description: 'd', inputSchema }], OPENAI)[0]?.schema;

  test.each<[string, JsonObject, JsonObject]>([
    [
      'an array that says nothing of its items',
      { properties: { x: { type: 'array' } } },
      { properties: { x: { type: 'array', items: {} } } },
    ],
    [
      'an array or nothing, deep down',
      { properties: { a: { anyOf: [{ type: ['array', 'null'] }] } } },
      { properties: { a: { anyOf: [{ type: ['array', 'null'], items: {} }] } } },
    ],
    [
      'a required field that is no property',
      { properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] },
    ],
    [
      'an enum of nothing',
      { properties: { a: { type: 'string', enum: [] } } },
      { properties: { a: { type: 'string' } } },
    ],
    [
      'properties with the names of keywords',
      { properties: { enum: { type: 'array', items: {} }, required: {}, $ref: {} } },
      { properties: { enum: { type: 'array', items: {} }, required: {}, $ref: {} } },
    ],
    [
      'data that looks like a schema',
      { properties: { a: { default: { type: 'array' }, enum: [{ type: 'array' }] } } },
      { properties: { a: { default: { type: 'array' }, enum: [{ type: 'array' }] } } },
    ],
  ])('%s: is what servers take', (_, given, wanted) => {
    expect(sent({ type: 'object', ...given })).toEqual({ type: 'object', ...wanted });
  });

  test('what may be null beside an object requires what the object requires', () => {
    const root = schemaOf(z.object({ a: z.string() }).nullable() as unknown as z.ZodType);
    expect(sent(root)).toMatchObject({ type: 'object', required: ['a'] });
  });
});

describe('unions at the root', () => {
  const union = z.discriminatedUnion('command', [
    z.object({ command: z.literal('create'), path: z.string() }),
    z.object({ command: z.literal('delete'), id: z.number() }),
  ]);

  test('become one object, with the discriminator as an enum', () => {
    expect(flatRoot(schemaOf(union))).toEqual({
      type: 'object',
      properties: {
        command: { type: 'string', enum: ['create', 'delete'] },
        path: { type: 'string' },
        id: { type: 'number' },
      },
      required: ['command'],
    });
  });

  test('take at least what each branch takes of its own fields', () => {
    const field = fc.constantFrom<Json>({ type: 'string' }, { type: 'number' }, { const: 1 }, { enum: ['x', 2] }, {});
    const branch = fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), field),
      required: fc.subarray(['a', 'b', 'c']),
      additionalProperties: fc.constantFrom<Json>(false, true, { type: 'string' }),
    });
    const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom<Json>('x', 1, 2, true));
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(branch, { minLength: 1, maxLength: 3 }), args, (branches, value) => {
        const flat = flatRoot({ type: 'object', oneOf: branches as JsonObject[] });
        expect(Object.keys(flat)).not.toContain('oneOf');
        const own = branches.map((one) => ({ ...one, additionalProperties: false }) as JsonObject);
        if (!own.some((one) => accepts(one, value as JsonObject))) return;
        accepted += 1;
        expect(accepts(flat, value as JsonObject)).toBe(true);
      }),
      { numRuns: RUNS },
    );
    expect(accepted).toBeGreaterThan(RUNS / 50);
  });

  test('merge with what all branches share, wherever it stands', () => {
    const schema: JsonObject = {
      type: 'object',
      description: 'kept',
      properties: { id: { type: 'string' } },
      required: ['id'],
      allOf: [{ $ref: '#/$defs/paging' }],
      anyOf: [{ required: ['page'] }, { properties: { all: { type: 'boolean' } } }],
      $defs: { paging: { properties: { page: { type: 'integer' } } } },
    };
    expect(flatRoot(schema)).toEqual({
      type: 'object',
      description: 'kept',
      properties: { id: { type: 'string' }, page: { type: 'integer' }, all: { type: 'boolean' } },
      required: ['id'],
      $defs: schema.$defs,
    });
  });

  test('stay open where one branch takes any field', () => {
    const open = flatRoot(schemaOf(z.union([z.strictObject({}), z.record(z.string(), z.number())])));
    expect(open.additionalProperties).not.toBe(false);
    expect(strictSchema(open)).toBeUndefined();
  });
});

describe('references', () => {
  test('are gone after inlining, and recursion ends in something permissive', () => {
    const inlined = inlineRefs(schemaOf(z.object({ from: Location, to: Location, tree: Tree })));
    expect(JSON.stringify(inlined)).not.toMatch(/\$ref|\$defs|definitions/);
    const deep = {
      value: 'a',
      kids: [{ value: 'b', kids: [{ value: 'c', kids: [{ value: 'd', kids: [{ value: 'e' }] }] }] }],
    };
    expect(accepts(inlined, { from: { id: '1' }, to: { id: '2' }, tree: deep })).toBe(true);
    expect(accepts(inlined, { from: { id: '1' }, to: { id: '2' }, tree: { value: 1 } })).toBe(false);
  });

  test('that multiply without end stay within bounds', () => {
    const nest: JsonObject = {
      type: 'object',
      properties: Object.fromEntries([...'abcdefgh'].map((key) => [key, { $ref: `#/$defs/${key}` }])),
    };
    const bomb: JsonObject = { ...nest, $defs: Object.fromEntries([...'abcdefgh'].map((key) => [key, nest])) };
    expect(JSON.stringify(inlineRefs(bomb)).length).toBeLessThan(5_000_000);
  });

  test('in the names of properties and in values are left alone', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { $ref: { type: 'string' }, definitions: { const: { $ref: '#/x' } } },
    };
    expect(inlineRefs(schema)).toEqual(schema);
  });
});

describe('strict mode', () => {
  test.each<[string, z.ZodType, boolean]>([
    ['all fields required', z.object({ a: z.string(), b: z.number().nullable() }), true],
    ['no fields', z.object({}), true],
    ['nested objects and lists', z.object({ a: z.array(z.object({ b: z.enum(['x']) })) }), true],
    [
      'recursion',
      z.object({
        v: z.string(),
        get next() {
          return z.union([z.null(), z.object({ w: z.string() })]);
        },
      }),
      true,
    ],
    ['an optional field', z.object({ a: z.string().optional() }), false],
    ['a default', z.object({ a: z.string().default('x') }), false],
    ['a record', z.object({ a: z.record(z.string(), z.string()) }), false],
    ['a free-form object', z.object({ a: z.looseObject({}) }), false],
    ['a value of any type', z.object({ a: z.any() }), false],
    ['a length', z.object({ a: z.string().min(2) }), false],
    ['a pattern', z.object({ a: z.string().regex(/^a+$/) }), true],
    ['a pattern with look-around', z.object({ a: z.string().regex(/^(?!b)/) }), false],
    [
      'a nested discriminated union',
      z.object({ a: z.discriminatedUnion('k', [z.object({ k: z.literal(1) })]) }),
      false,
    ],
    ['anything at all', z.any(), false],
  ])('%s: %#', (_, input, possible) => {
    const strict = strictSchema(flatRoot(schemaOf(input)));
    expect(strict !== undefined).toBe(possible);
    if (strict !== undefined) expectStrict(strict);
  });

  function expectStrict(schema: Json): void {
    if (typeof schema !== 'object' || schema === null) return;
    if (!Array.isArray(schema) && 'properties' in schema) {
      const object = schema as JsonObject;
      expect(object.additionalProperties).toBe(false);
      expect(object.required).toEqual(Object.keys(object.properties as JsonObject));
    }
    for (const inner of Object.values(schema)) expectStrict(inner as Json);
  }
});

describe('the tools of a request', () => {
  const spec = (name: string) => ({ name, description: 'd', inputSchema: {} });

  test('beyond the limit are refused with count and limit, never cut', () => {
    const tools = Array.from({ length: 142 }, (_, i) => spec(`t${i}`));
    expect(() => wireTools(tools, OPENAI)).toThrow(/142 tools.*at most 128/);
    expect(wireTools(tools, { refs: 'keep', strict: 'off' })).toHaveLength(142);
  });

  test('that would share a name are refused', () => {
    expect(() => wireTools([spec('a.b'), spec('a_b')], OPENAI)).toThrow(ProviderError);
  });

  test('keep their order and get legal names and schemas', () => {
    expect(wireTools([spec('b c'), spec('a')], { refs: 'inline', strict: 'off' })).toEqual([
      { name: 'b_c', description: 'd', schema: { type: 'object', properties: {} }, strict: false },
      { name: 'a', description: 'd', schema: { type: 'object', properties: {} }, strict: false },
    ]);
  });
});
