/**
 * Lines (from 1) on which the elements of a JSON array begin: the root, or the value of `key` in the root object. Empty
 * when there is no such array. Expects text that is JSON.
 */
export function elementLines(json: string, key?: string): readonly number[] {
  const lines: number[] = [];
  const target = key === undefined ? 1 : 2;
  let line = 1;
  let depth = 0;
  let inTarget = false;
  let expecting = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (char === '\n') line += 1;
    if (/[\s:]/.test(char)) continue;
    if (inTarget && expecting && depth === target && char !== ']') {
      lines.push(line);
      expecting = false;
    }
    if (char === '"') {
      const end = stringEnd(json, at);
      const isKey = depth === 1 && key !== undefined && json.slice(at + 1, end) === key && opensArray(json, end + 1);
      at = end;
      if (isKey) {
        inTarget = true;
        lines.length = 0;
      }
    } else if (char === '[' || char === '{') {
      depth += 1;
      if (key === undefined && depth === 1 && char === '[') inTarget = true;
      if (inTarget && depth === target) expecting = true;
    } else if (char === ']' || char === '}') {
      if (inTarget && depth === target && char === ']') inTarget = false;
      depth -= 1;
    } else if (char === ',' && inTarget && depth === target) expecting = true;
  }
  return lines;
}

/** Position of the quote that closes the string opened at `from`. */
function stringEnd(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json.charAt(at) !== '"') at += json.charAt(at) === '\\' ? 2 : 1;
  return at;
}

/** Whether what follows a key is an array. */
function opensArray(json: string, from: number): boolean {
  return /^\s*:\s*\[/.test(json.slice(from, from + 200));
}
