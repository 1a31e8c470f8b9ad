import { HoldfastError } from '../contract/errors.ts';
import { type Endpoint, KNOWN_PROVIDERS, LOCAL_SERVERS } from './known-providers.ts';
import type { Environment } from './load-config.ts';
import type { HoldfastConfig, ProviderSettings } from './settings.ts';

/** The built-in provider that needs no key. */
export const OFFLINE = 'offline';

/** A provider that could be used, with its key where one is set. Never logged or stored: it holds secrets. */
export interface UsableEndpoint extends Endpoint {
  readonly id: string;
  /** Absent: none is needed, or none is set (`missingKey` then names the variable). */
  readonly key?: string;
  readonly missingKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As {@link ProviderSettings} has them. */
  readonly reasoning?: ProviderSettings['reasoning'];
  readonly unsignedThinking?: ProviderSettings['unsignedThinking'];
}

/** All providers by id: the known ones, the local ones, and those of the config, in that order. */
export function endpoints(config: HoldfastConfig, env: Environment): ReadonlyMap<string, UsableEndpoint> {
  const ids = new Set([
    ...Object.keys(KNOWN_PROVIDERS),
    ...Object.keys(LOCAL_SERVERS),
    ...(env.AZURE_OPENAI_ENDPOINT ? ['azure'] : []),
    ...Object.keys(config.providers ?? {}),
  ]);
  return new Map([...ids].map((id) => [id, endpoint(id, config, env)]));
}

function endpoint(id: string, config: HoldfastConfig, env: Environment): UsableEndpoint {
  const known = Object.hasOwn(KNOWN_PROVIDERS, id) ? KNOWN_PROVIDERS[id] : undefined;
  const base: Endpoint = known ?? LOCAL_SERVERS[id] ?? (id === 'azure' ? azure(env) : { api: 'openai-chat' });
  const own = config.providers?.[id] ?? {};
  const named = own.baseURL ?? (known?.baseUrlEnv === undefined ? undefined : urlIn(env, known.baseUrlEnv));
  const baseURL = named ?? base.baseURL;
  const api = own.api ?? base.api;
  // A server somewhere else under the vendor's name is a proxy or a look-alike: what is the vendor's alone is not assumed.
  const dialect = own.dialect ?? (named === undefined ? base.dialect : dialectOf(base, named));
  const keyEnv = own.apiKeyEnv === undefined ? base.keyEnv : [own.apiKeyEnv];
  const key = keyEnv?.map((name) => env[name]?.trim()).find((value) => value);
  return {
    id,
    api,
    ...(dialect === undefined ? {} : { dialect }),
    ...(baseURL === undefined ? {} : { baseURL: baseURL.replace(/\/+$/, '') }),
    ...(keyEnv === undefined ? {} : { keyEnv }),
    ...(key === undefined ? {} : { key }),
    ...(key === undefined && keyEnv !== undefined ? { missingKey: keyEnv.join(' or ') } : {}),
    headers: headersOf(id, own.headers ?? {}, env),
    ...(own.reasoning === undefined ? {} : { reasoning: own.reasoning }),
    ...(own.unsignedThinking === undefined ? {} : { unsignedThinking: own.unsignedThinking }),
  };
}

function urlIn(env: Environment, variable: string): string | undefined {
  const url = env[variable]?.trim();
  if (!url) return undefined;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new HoldfastError('ConfigInvalid', `${variable} is no URL that begins with http:// or https://`, {
    hint: `Correct ${variable}, or unset it.`,
  });
}

function dialectOf(base: Endpoint, baseURL: string): Endpoint['dialect'] {
  if (base.dialect !== 'openai') return base.dialect;
  return URL.canParse(baseURL) && /(^|\.)openai\.com$/.test(new URL(baseURL).hostname) ? 'openai' : 'generic';
}

function azure(env: Environment): Endpoint {
  const root = urlIn(env, 'AZURE_OPENAI_ENDPOINT')?.replace(/\/+$/, '') ?? '';
  const baseURL = /\/openai\//.test(`${root}/`) ? root : `${root}/openai/v1`;
  return { api: 'openai-chat', dialect: 'azure', baseURL, keyEnv: ['AZURE_OPENAI_API_KEY'] };
}

function headersOf(
  id: string,
  headers: Readonly<Record<string, string | { readonly env: string }>>,
  env: Environment,
): Readonly<Record<string, string>> {
  const values = Object.entries(headers).map(([name, value]): readonly [string, string] => {
    if (typeof value === 'string') return [name, value];
    const found = env[value.env];
    if (found) return [name, found];
    throw new HoldfastError('MissingKey', `providers.${id}.headers: the environment variable ${value.env} is not set`);
  });
  return Object.fromEntries(values);
}

/** Variables that hold a secret by their names, whoever reads them. */
const SECRET_NAME =
  /(?:^|_)(?:API_?KEY|(?:ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|AUTH|MASTER)_?KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?|PAT)$/i;

/** Passwords inside URLs (databases, proxies), as they stand there and as they are. */
function passwords(env: Environment): readonly string[] {
  return Object.values(env).flatMap((value) => {
    const found = /^[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:([^\s@/]+)@/i.exec(value ?? '')?.[1];
    if (found === undefined) return [];
    try {
      return [found, decodeURIComponent(found)];
    } catch {
      return [found];
    }
  });
}

/** Values that may appear nowhere: keys and header values taken from the environment. Longest first. */
export function secretValues(config: HoldfastConfig, env: Environment): readonly string[] {
  const names = [
    ...Object.values(KNOWN_PROVIDERS).flatMap(({ keyEnv = [] }) => keyEnv),
    ...Object.values(config.providers ?? {}).flatMap(({ apiKeyEnv, headers = {} }) => [
      ...(apiKeyEnv === undefined ? [] : [apiKeyEnv]),
      ...Object.values(headers).flatMap((value) => (typeof value === 'string' ? [] : [value.env])),
    ]),
    ...Object.values(config.mcpServers ?? {}).flatMap(({ env: variables = {}, headers = {} }) =>
      [...Object.values(variables), ...Object.values(headers)].flatMap((value) =>
        typeof value === 'string' ? [] : [value.env],
      ),
    ),
    ...Object.keys(env).filter((name) => SECRET_NAME.test(name)),
  ];
  const values = [...[...new Set(names)].flatMap((name) => env[name]?.trim() ?? []), ...passwords(env)];
  // What is shorter is no secret, and redacting it would eat ordinary text.
  return [...new Set(values)].filter((value) => value.length >= 8).sort((a, b) => b.length - a.length);
}
