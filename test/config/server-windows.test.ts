import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serverWindows } from '../../src/config/server-windows.ts';
import type { HoldfastConfig } from '../../src/config/settings.ts';

/** A server that keeps what it was asked. */
class Asked {
  readonly requests: IncomingMessage[] = [];
  answer: { status: number; body?: unknown; headers?: Record<string, string> } = { status: 404 };
  #server: Server | undefined;

  async listen(): Promise<string> {
    const server = createServer((request, response) => {
      this.requests.push(request);
      const { status, body, headers } = this.answer;
      response.writeHead(status, { connection: 'close', ...headers }).end(JSON.stringify(body ?? {}));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

let server: Asked;
let elsewhere: Asked;
let url: string;
let elsewhereUrl: string;
beforeEach(async () => {
  server = new Asked();
  elsewhere = new Asked();
  [url, elsewhereUrl] = await Promise.all([server.listen(), elsewhere.listen()]);
  server.answer = { status: 200, body: { data: [{ id: 'm', max_model_len: 8192 }] } };
});
afterEach(() => {
  server.close();
  elsewhere.close();
});

const configOf = (provider: NonNullable<HoldfastConfig['providers']>[string]): HoldfastConfig => ({
  providers: { mine: provider },
});
const env = { MINE_KEY: 'the-key' };

describe('the server of a provider', () => {
  test.each([
    ['openai-chat', '/v1', { authorization: 'Bearer the-key' }],
    ['openai-responses', '/v1', { authorization: 'Bearer the-key' }],
    ['anthropic', '', { 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' }],
  ] as const)('that speaks %s is asked with its own key and headers', async (api, path, auth) => {
    const settings = { api, baseURL: `${url}${path}`, apiKeyEnv: 'MINE_KEY', headers: { 'x-team': 'seven' } };
    expect(await serverWindows(configOf(settings), env)('mine/m')).toBe(8192);
    expect(server.requests.map(({ url: asked }) => asked)).toEqual(['/v1/models']);
    expect(server.requests[0]?.headers).toMatchObject({ ...auth, 'x-team': 'seven' });
  });

  test('that needs no key gets none', async () => {
    const windows = serverWindows(configOf({ api: 'openai-chat', baseURL: `${url}/v1` }), {
      OPENAI_API_KEY: 'sk-other',
    });
    expect(await windows('mine/m')).toBe(8192);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('is asked once a model, however many runs begin at once', async () => {
    const windows = serverWindows(configOf({ api: 'openai-chat', baseURL: `${url}/v1` }), {});
    expect(await Promise.all([windows('mine/m'), windows('mine/m')])).toEqual([8192, 8192]);
    expect(await windows('mine/m')).toBe(8192);
    expect(server.requests.length).toBe(1);
  });

  test('that does not know is not asked again', async () => {
    server.answer = { status: 404 };
    const windows = serverWindows(configOf({ api: 'openai-chat', baseURL: `${url}/v1` }), {});
    expect([await windows('mine/m'), await windows('mine/m')]).toEqual([undefined, undefined]);
    expect(server.requests.map(({ url: asked }) => asked)).toEqual(['/v1/models', '/props']);
  });

  test('that still loads its model is asked again by the next run', async () => {
    server.answer = { status: 503 };
    const windows = serverWindows(configOf({ api: 'openai-chat', baseURL: `${url}/v1` }), {});
    expect(await windows('mine/m')).toBeUndefined();
    server.answer = { status: 200, body: { data: [{ id: 'm', max_model_len: 4096 }] } };
    expect(await windows('mine/m')).toBe(4096);
  });

  test('that redirects is not followed: the key stays with the endpoint', async () => {
    server.answer = { status: 307, headers: { location: `${elsewhereUrl}/v1/models` } };
    const settings = { api: 'anthropic', baseURL: url, apiKeyEnv: 'MINE_KEY' } as const;
    expect(await serverWindows(configOf(settings), env)('mine/m')).toBeUndefined();
    expect(elsewhere.requests).toEqual([]);
  });

  test('is not asked while its key is missing', async () => {
    const settings = { api: 'openai-chat', baseURL: `${url}/v1`, apiKeyEnv: 'MINE_KEY' } as const;
    expect(await serverWindows(configOf(settings), {})('mine/m')).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  test.each(['offline/extractive', 'nobody/m', 'm'])('of %s is not there to be asked', async (name) => {
    expect(await serverWindows({}, {})(name)).toBeUndefined();
  });
});
