import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  anthropicFormat,
  correction,
  readStructured,
  responsesFormat,
} from '../../../src/providers/structured-output.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';

const City = z.object({ city: z.string(), tags: z.array(z.object({ n: z.number() })) });
const schema = z.toJSONSchema(City) as JsonObject;
const check = (value: unknown): string | undefined => {
  const { error } = City.safeParse(value);
  return error === undefined ? undefined : z.prettifyError(error);
};
const GOOD = '{"city":"Oslo","tags":[{"n":1}]}';

test.each([
  [GOOD, 'as asked'],
  [`  ${GOOD}\n`, 'with white space'],
  [`Here you are:\n\`\`\`json\n${GOOD}\n\`\`\`\nAnything else?`, 'in a fence'],
  [`The answer is ${GOOD}.`, 'after a sentence'],
])('a document %j is read (%s)', (text) => {
  expect(readStructured(text, check)).toEqual({ ok: true, value: JSON.parse(GOOD) });
});

test.each([
  ['{"city":"Oslo"}', 'tags'],
  ['{"city":"Os', 'not a JSON document'],
  ['I cannot say.', 'not a JSON document'],
  [' ', 'empty'],
])('%j does not fit, and the correction says why: %s', (text, why) => {
  const reading = readStructured(text, check);
  expect(reading.ok).toBe(false);
  expect(reading.ok ? '' : correction(reading.problem)).toContain(why);
});

test('each wire asks in its native way for closed objects', () => {
  const closed = { additionalProperties: false, properties: { tags: { items: { additionalProperties: false } } } };
  expect(responsesFormat({ name: 'a city', schema })).toMatchObject({
    type: 'json_schema',
    name: 'a_city',
    strict: true,
    schema: closed,
  });
  expect(anthropicFormat({ name: 'a city', schema })).toMatchObject({ type: 'json_schema', schema: closed });
});

test('a schema that strict mode cannot say goes without it', () => {
  const loose: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
  expect(responsesFormat({ name: 'x', schema: loose })).toMatchObject({ strict: false });
});
