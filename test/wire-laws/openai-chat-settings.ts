import { boolean, type Flag, keys, matches, number, type Obj, object, oneOf } from './shape.ts';
import { checkToolSchema } from './tool-schema.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Limits, sampling, stream and format of an answer. */
export function settings(request: Obj, flag: Flag): void {
  const whole = { min: 1, integer: true };
  for (const key of ['max_tokens', 'max_completion_tokens', 'n']) {
    if (request[key] !== undefined && request[key] !== null) number(request[key], key, flag, whole);
  }
  if (request.max_tokens !== undefined && request.max_completion_tokens !== undefined) {
    flag('max_tokens', 'may not stand beside max_completion_tokens');
  }
  if (request.temperature !== undefined) number(request.temperature, 'temperature', flag, { min: 0, max: 2 });
  if (request.top_p !== undefined) number(request.top_p, 'top_p', flag, { min: 0, max: 1 });
  if (request.stream !== undefined) boolean(request.stream, 'stream', flag);
  if (request.reasoning_effort !== undefined) {
    oneOf(
      request.reasoning_effort,
      ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      'reasoning_effort',
      flag,
    );
  }
  if (request.stream_options !== undefined) {
    if (request.stream !== true) flag('stream_options', 'only with stream: true');
    const options = object(request.stream_options, 'stream_options', flag);
    keys(options ?? {}, 'stream_options', flag, [], ['include_usage', 'include_obfuscation']);
    for (const [key, value] of Object.entries(options ?? {})) boolean(value, `stream_options.${key}`, flag);
  }
  if (request.response_format !== undefined) responseFormat(request.response_format, flag);
}

function responseFormat(value: unknown, flag: Flag): void {
  const format = object(value, 'response_format', flag);
  if (format === undefined) return;
  oneOf(format.type, ['text', 'json_object', 'json_schema'], 'response_format.type', flag);
  if (format.type !== 'json_schema') {
    keys(format, 'response_format', flag, ['type'], []);
    return;
  }
  keys(format, 'response_format', flag, ['type', 'json_schema'], []);
  const path = 'response_format.json_schema';
  const named = object(format.json_schema, path, flag);
  if (named === undefined) return;
  keys(named, path, flag, ['name', 'schema'], ['description', 'strict']);
  matches(named.name, NAME, `${path}.name`, flag);
  checkToolSchema(named.schema, `${path}.schema`, flag, { forbiddenAtRoot: ['anyOf'], strict: named.strict === true });
}
