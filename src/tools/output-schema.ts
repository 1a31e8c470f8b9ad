import { z } from 'zod';
import type { JsonObject } from '../transcript/json.ts';

/** A shape that an agent's final answer must have. */
export interface OutputSchema {
  readonly name: string;
  /** JSON Schema, draft 2020-12. */
  readonly schema: JsonObject;
  /** What is wrong with a value, or `undefined` where nothing is. */
  readonly check: (value: unknown) => string | undefined;
}

/** What providers and the gate need of a zod schema. */
export function outputSchemaOf(schema: z.ZodType, name = 'answer'): OutputSchema {
  return {
    name,
    schema: z.toJSONSchema(schema, { unrepresentable: 'any' }) as JsonObject,
    check: (value) => {
      const { success, error } = schema.safeParse(value);
      return success ? undefined : z.prettifyError(error).slice(0, 2000);
    },
  };
}
