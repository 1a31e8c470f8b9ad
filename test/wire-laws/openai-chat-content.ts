import { base64, type Flag, imageUrl, keys, list, type Obj, object, oneOf, string } from './shape.ts';

/** Content as a string or as parts. Empty text is refused by many servers, so a strict one does, except where a tool said nothing. */
export function content(value: unknown, path: string, flag: Flag, types: readonly string[], mayBeEmpty: boolean): void {
  if (typeof value === 'string') {
    if (value === '' && !mayBeEmpty) flag(path, 'is empty');
    return;
  }
  list(value, path, flag, 1).forEach((entry, i) => {
    const part = object(entry, `${path}[${i}]`, flag);
    if (part !== undefined && oneOf(part.type, types, `${path}[${i}].type`, flag))
      contentPart(part, `${path}[${i}]`, flag);
  });
}

function contentPart(part: Obj, path: string, flag: Flag): void {
  const type = String(part.type);
  keys(part, path, flag, ['type', type], []);
  if (type === 'text' || type === 'refusal') {
    if (string(part[type], `${path}.${type}`, flag) && part[type] === '') flag(path, 'is empty');
    return;
  }
  if (type === 'thinking') {
    list(part.thinking, `${path}.thinking`, flag, 1);
    return;
  }
  const inner = object(part[type], `${path}.${type}`, flag);
  if (inner === undefined) return;
  if (type === 'image_url') {
    keys(inner, `${path}.image_url`, flag, ['url'], ['detail']);
    imageUrl(inner.url, `${path}.image_url.url`, flag);
    if (inner.detail !== undefined) oneOf(inner.detail, ['auto', 'low', 'high'], `${path}.image_url.detail`, flag);
  } else if (type === 'input_audio') {
    keys(inner, `${path}.input_audio`, flag, ['data', 'format'], []);
    base64(inner.data, `${path}.input_audio.data`, flag);
    oneOf(inner.format, ['wav', 'mp3'], `${path}.input_audio.format`, flag);
  } else {
    keys(inner, `${path}.file`, flag, [], ['file_id', 'file_data', 'filename']);
    if (inner.file_id === undefined && inner.file_data === undefined) flag(path, 'needs file_id or file_data');
    if (inner.file_data !== undefined && inner.filename === undefined) flag(path, 'file_data needs filename');
  }
}
