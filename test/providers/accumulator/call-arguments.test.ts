import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCallArguments } from '../../../src/providers/call-arguments.ts';

const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) };

const object = fc.dictionary(fc.string(), fc.jsonValue());

test('a written object is read back, joined or not, encoded twice or not', () => {
  const spaces = fc.constantFrom('', ' ', '\n', '\r\n\t');
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 4 }), spaces, (objects, space) => {
      const values = objects.map((o) => JSON.parse(JSON.stringify(o)));
      const parsed = parseCallArguments(values.map((v) => JSON.stringify(v)).join(space));
      expect(parsed).toEqual(values.map((value) => ({ ok: true, value })));
      expect(parseCallArguments(JSON.stringify(JSON.stringify(values[0])))).toEqual([{ ok: true, value: values[0] }]);
    }),
    RUNS,
  );
});

test('a cut object is never a call that runs', () => {
  fc.assert(
    fc.property(object, fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, 1 + (at % (text.length - 1)));
      expect(parseCallArguments(cut)).toMatchObject([{ ok: false, raw: cut }]);
    }),
    RUNS,
  );
});

test.each([
  ['', {}],
  ['  \n', {}],
  ['null', {}],
  ['""', {}],
  ['"{\\"city\\":\\"Oslo\\"}"', { city: 'Oslo' }],
  ['{"inner":"{\\"a\\":1}"}', { inner: '{"a":1}' }],
])('%j is %j', (text, value) => {
  expect(parseCallArguments(text)).toEqual([{ ok: true, value }]);
});

test.each([
  '{"command":"ls"}\n</tool_call>',
  '{"a":1},{"a":2}',
  '{"a":1}{"a":',
  '[1]',
  '7',
  'true',
  '"text"',
  '{"a":1}[2]',
  "{'a':1}",
])('%j is no object, and is kept as it came', (text) => {
  expect(parseCallArguments(text)).toMatchObject([
    { ok: false, raw: text, error: expect.stringContaining('arguments') },
  ]);
});

test('a key named __proto__ stays a key and touches no prototype', () => {
  const [parsed] = parseCallArguments('{"__proto__":{"polluted":true}}');
  expect(parsed.ok && Object.keys(parsed.value)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
