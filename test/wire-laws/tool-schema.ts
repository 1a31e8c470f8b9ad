import { type Flag, isObject, list, matches, type Obj, object, oneOf, string, unique } from './shape.ts';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords whose value is a schema, a list of schemas, and a map of schemas (JSON Schema 2020-12 §10). */
const ONE = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];

export interface SchemaLaws {
  /** Keywords that may not stand at the root. */
  readonly forbiddenAtRoot: readonly string[];
  /** Whether `$ref` is refused everywhere. */
  readonly noRefs?: boolean;
  /** OpenAI's strict mode: every object closed, every property required, no free-form maps. */
  readonly strict?: boolean;
}

/** Checks the JSON Schema of a tool's arguments: an object at the root, and well formed all the way down. */
export function checkToolSchema(value: unknown, path: string, flag: Flag, laws: SchemaLaws): void {
  const root = object(value, path, flag);
  if (root === undefined) return;
  oneOf(root.type, ['object'], `${path}.type`, flag);
  if (!isObject(root.properties)) flag(path, 'object schema missing properties');
  for (const keyword of laws.forbiddenAtRoot) {
    if (root[keyword] !== undefined) flag(path, `${keyword} is not supported at the top level`);
  }
  node(root, path, flag, laws, root);
}

function node(value: unknown, path: string, flag: Flag, laws: SchemaLaws, root: Obj): void {
  if (typeof value === 'boolean') return;
  const schema = object(value, path, flag);
  if (schema === undefined) return;
  types(schema, path, flag);
  reference(schema, path, flag, laws, root);
  required(schema, path, flag);
  if (laws.strict === true) strict(schema, path, flag);
  for (const keyword of ONE) {
    if (schema[keyword] !== undefined) node(schema[keyword], `${path}.${keyword}`, flag, laws, root);
  }
  for (const keyword of MANY) {
    if (schema[keyword] === undefined) continue;
    list(schema[keyword], `${path}.${keyword}`, flag, 1).forEach((entry, i) => {
      node(entry, `${path}.${keyword}[${i}]`, flag, laws, root);
    });
  }
  for (const keyword of MAPS) {
    if (schema[keyword] === undefined) continue;
    const map = object(schema[keyword], `${path}.${keyword}`, flag);
    for (const [name, entry] of Object.entries(map ?? {})) node(entry, `${path}.${keyword}.${name}`, flag, laws, root);
  }
}

function types(schema: Obj, path: string, flag: Flag): void {
  const { type } = schema;
  if (type !== undefined) {
    const names = Array.isArray(type) ? type : [type];
    if (names.length === 0) flag(`${path}.type`, 'is empty');
    for (const name of names) oneOf(name, TYPES, `${path}.type`, flag);
    if (names.includes('array') && schema.items === undefined && schema.prefixItems === undefined) {
      flag(path, 'array schema missing items');
    }
  }
  if (schema.enum !== undefined) list(schema.enum, `${path}.enum`, flag, 1);
  if (schema.description !== undefined) string(schema.description, `${path}.description`, flag);
  if (schema.pattern !== undefined) string(schema.pattern, `${path}.pattern`, flag);
}

function reference(schema: Obj, path: string, flag: Flag, laws: SchemaLaws, root: Obj): void {
  if (laws.noRefs === true && (schema.$ref ?? schema.$defs ?? schema.definitions) !== undefined) {
    flag(path, '$ref, $defs and definitions are not supported');
  }
  if (schema.$ref === undefined || !string(schema.$ref, `${path}.$ref`, flag)) return;
  if (!schema.$ref.startsWith('#')) {
    flag(`${path}.$ref`, 'must be local');
    return;
  }
  const steps = schema.$ref.split('/').slice(1);
  let target: unknown = root;
  for (const step of steps)
    target = isObject(target) ? target[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  if (target === undefined) flag(`${path}.$ref`, `${schema.$ref} points at nothing`);
}

function required(schema: Obj, path: string, flag: Flag): void {
  if (schema.required === undefined) return;
  const names = list(schema.required, `${path}.required`, flag);
  for (const name of names) string(name, `${path}.required`, flag);
  unique(names, `${path}.required`, 'name', flag);
  if (!isObject(schema.properties)) return;
  const known = Object.keys(schema.properties);
  for (const name of names) {
    if (typeof name === 'string' && !known.includes(name)) flag(`${path}.required`, `${name} is no property`);
  }
}

/** https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas". */
function strict(schema: Obj, path: string, flag: Flag): void {
  if (schema.type !== 'object') return;
  if (schema.additionalProperties !== false) flag(path, 'strict: additionalProperties must be false');
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const names = Array.isArray(schema.required) ? schema.required : [];
  for (const name of properties) if (!names.includes(name)) flag(path, `strict: ${name} must be required`);
}

/** Checks the list of tool names: legal each, and none twice. */
export function checkToolNames(names: readonly unknown[], pattern: RegExp, path: string, flag: Flag): void {
  names.forEach((name, i) => {
    matches(name, pattern, `${path}[${i}].name`, flag);
  });
  unique(names, path, 'tool name', flag);
}
