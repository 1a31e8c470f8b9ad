import { createHash } from 'node:crypto';

/** A base URL as replay scopes name it: without credentials, query, fragment or trailing slash. */
export function endpointOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '');
}

/** Tells accounts apart without telling the key: the beginning of a hash of it. */
export function accountOf(key: string | null | undefined): string {
  if (key === undefined || key === null || key === '') return '';
  return createHash('sha256').update(`account:${key}`).digest('hex').slice(0, 16);
}
