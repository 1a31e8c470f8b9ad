import { isDeepStrictEqual } from 'node:util';
import { isObj, type Obj, objs } from './case-file.ts';
import type { Check, CheckTable } from './check.ts';
import { show } from './compare.ts';
import { partsOf, toolNamesOf } from './wire-reader.ts';

/** Asks something of every schema that was sent. */
const every =
  (holds: (schema: Obj, want: unknown) => boolean): Check =>
  (want, seen) => {
    if (seen.schemas === undefined || seen.schemas.length === 0) return 'no schema was observed';
    const wrong = seen.schemas.find((schema) => !holds(schema, want));
    return wrong === undefined ? undefined : `expected ${show(want)}, seen ${show(wrong)}`;
  };

/** Keys about tool schemas and names as sent. */
export const SCHEMA_CHECKS: CheckTable = {
  /** What is asked must be there; `additionalProperties: false` beside it is strict mode's. */
  schema: every((schema, want) => {
    const { additionalProperties, ...rest } = schema;
    return (
      isDeepStrictEqual(schema, want) || (additionalProperties === false && isDeepStrictEqual(withoutEmpty(rest), want))
    );
  }),
  root_type: every((schema, want) => schema.type === want),
  required: every((schema, want) => isDeepStrictEqual(sorted(schema.required), sorted(want))),
  additionalProperties: every((schema, want) => isDeepStrictEqual(schema.additionalProperties, want)),
  command_enum: every((schema, want) => isDeepStrictEqual(sorted(enumOf(schema, 'command')), sorted(want))),
  no_root_keywords: every(
    (schema, want) => Array.isArray(want) && want.every((keyword) => !(String(keyword) in schema)),
  ),
  no_refs: every((schema) => !/"(?:\$ref|\$defs|definitions)":/.test(JSON.stringify(schema))),
  name_pattern: (want, seen) => {
    const names =
      seen.names ??
      (seen.requests ?? []).flatMap((request) => [
        ...toolNamesOf(request),
        ...partsOf(request, 'call').map((part) => part.name),
      ]);
    if (names.length === 0) return 'no name was observed';
    const wrong = names.filter((name) => !new RegExp(String(want)).test(name));
    return wrong.length === 0 ? undefined : `expected ${show(want)}, seen ${show(wrong)}`;
  },
  unique_names: (want, seen) => {
    if (seen.names === undefined) return 'no name was observed';
    return (new Set(seen.names).size === seen.names.length) === want ? undefined : `seen ${show(seen.names)}`;
  },
};

function withoutEmpty(schema: Obj): Obj {
  return Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => key !== 'required' || !Array.isArray(value) || value.length > 0),
  );
}

function sorted(value: unknown): unknown[] {
  return Array.isArray(value) ? [...value].sort() : [];
}

/** The values that a property may take, through `enum`, `const` or a union of them. */
function enumOf(schema: Obj, name: string): unknown[] {
  const property = isObj(schema.properties) ? schema.properties[name] : undefined;
  const values = (value: unknown): unknown[] => {
    if (!isObj(value)) return [];
    if (Array.isArray(value.enum)) return value.enum;
    return 'const' in value ? [value.const] : objs(value.anyOf).flatMap(values);
  };
  return values(property);
}
