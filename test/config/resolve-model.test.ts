import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { buildProviders } from '../../src/config/build-providers.ts';
import { endpoints, secretValues } from '../../src/config/endpoints.ts';
import { KNOWN_PROVIDERS } from '../../src/config/known-providers.ts';
import { firstLocalModel } from '../../src/config/local-servers.ts';
import { requireUsable, resolveModel } from '../../src/config/resolve-model.ts';
import type { HoldfastConfig } from '../../src/config/settings.ts';
import { HoldfastError } from '../../src/contract/errors.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';

const nobody = async () => undefined;
const somebody = async () => ({ provider: 'ollama', model: 'qwen3:4b', baseURL: 'http://127.0.0.1:11434/v1' });
type Env = Record<string, string>;

describe('the default model', () => {
  test.each<[string, HoldfastConfig, Env, typeof somebody | typeof nobody, string, string]>([
    [
      'HOLDFAST_MODEL before all',
      { model: 'openai/c' },
      { HOLDFAST_MODEL: 'anthropic/m', ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' },
      somebody,
      'anthropic/m',
      'HOLDFAST_MODEL',
    ],
    [
      'the config before keys',
      { model: 'openai/c' },
      { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' },
      somebody,
      'openai/c',
      'config',
    ],
    ['a key before a local server', {}, { DEEPSEEK_API_KEY: 'k' }, somebody, 'deepseek/deepseek-chat', 'key'],
    ['a local server before offline', {}, {}, somebody, 'ollama/qwen3:4b', 'local'],
    ['offline when there is nothing', {}, {}, nobody, 'offline/extractive', 'offline'],
    [
      'empty variables are none',
      {},
      { HOLDFAST_MODEL: ' ', OPENAI_API_KEY: '' },
      nobody,
      'offline/extractive',
      'offline',
    ],
    [
      'offline can be named',
      {},
      { HOLDFAST_MODEL: 'offline/extractive', OPENAI_API_KEY: 'k' },
      nobody,
      'offline/extractive',
      'HOLDFAST_MODEL',
    ],
    ['a local server can be named', {}, { HOLDFAST_MODEL: 'ollama/llama3' }, nobody, 'ollama/llama3', 'HOLDFAST_MODEL'],
    [
      'model ids may hold slashes',
      {},
      { HOLDFAST_MODEL: 'openrouter/a/b:free', OPENROUTER_API_KEY: 'k' },
      nobody,
      'openrouter/a/b:free',
      'HOLDFAST_MODEL',
    ],
  ])('%s', async (_, config, env, probe, name, source) => {
    expect(await resolveModel({ config, env, probe })).toMatchObject({ name, source });
  });

  test.each<[string, Env, string, RegExp]>([
    ['anthropic/m', {}, 'MissingKey', /^anthropic\/m needs ANTHROPIC_API_KEY, which is not set$/],
    ['gemini/m', {}, 'MissingKey', /needs GEMINI_API_KEY or GOOGLE_API_KEY/],
    ['nowhere/m', {}, 'UnknownModel', /there is no provider "nowhere"/],
    ['gpt-5', {}, 'UnknownModel', /"gpt-5" is not of the form provider\/model/],
    ['openai/', {}, 'UnknownModel', /not of the form/],
  ])('%s without a key or provider is one clear sentence', async (name, env, code, message) => {
    const error = await resolveModel({ config: {}, env: { ...env, HOLDFAST_MODEL: name }, probe: nobody }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('every known provider with a key and a default model is chosen by its key alone, and can be built', async () => {
    for (const [id, { keyEnv = [], defaultModel }] of Object.entries(KNOWN_PROVIDERS)) {
      const env = { [keyEnv[0] ?? '']: 'key-of-it' };
      if (defaultModel !== undefined) {
        expect((await resolveModel({ config: {}, env, probe: nobody })).name).toBe(`${id}/${defaultModel}`);
      }
      const { provider } = (await buildProviders({}, env, `${id}/some-model`)).resolve();
      expect(provider).toMatchObject({ id, api: KNOWN_PROVIDERS[id]?.api });
    }
  });
});

describe('providers', () => {
  test('of the config have their own address, key and headers', async () => {
    const config: HoldfastConfig = {
      providers: {
        mine: {
          api: 'openai-chat',
          baseURL: 'https://llm.example/v1/',
          apiKeyEnv: 'MINE',
          headers: { 'x-team': 'a', 'x-token': { env: 'TEAM_TOKEN' } },
        },
      },
    };
    const env = { MINE: 'secret-key', TEAM_TOKEN: 'secret-token' };
    expect(endpoints(config, env).get('mine')).toMatchObject({
      baseURL: 'https://llm.example/v1',
      key: 'secret-key',
      headers: { 'x-team': 'a', 'x-token': 'secret-token' },
    });
    expect(secretValues(config, env)).toEqual(['secret-token', 'secret-key']);
    expect((await buildProviders(config, env, 'mine/m')).resolve().provider.scope('m')).toMatchObject({
      endpoint: 'https://llm.example/v1',
      model: 'm',
    });
    expect(() => endpoints(config, { MINE: 'x' })).toThrow(/TEAM_TOKEN is not set/);
    expect(() => requireUsable('mine/m', config, { TEAM_TOKEN: 'x' })).toThrow(/mine\/m needs MINE/);
  });

  test.each([
    ['openai-responses', { reasoning: 'text' }, true],
    ['openai-responses', { reasoning: 'encrypted' }, false],
    ['openai-responses', {}, false],
    ['anthropic', { unsignedThinking: 'replay' }, true],
    ['anthropic', { unsignedThinking: 'drop' }, false],
    ['anthropic', {}, false],
  ] as const)('that speak %s with %j: reasoning goes back as text: %s', async (api, settings, goesBack) => {
    const config: HoldfastConfig = { providers: { mine: { api, baseURL: 'http://127.0.0.1:9', ...settings } } };
    const { provider } = (await buildProviders(config, {}, 'mine/m')).resolve();
    const replay = { scope: provider.scope('m'), data: { signature: '' } };
    const response = { id: 'r1', provider: 'mine', model: 'm', api };
    const call = { type: 'tool_use', callId: 'call_1', nativeId: 'call_1', name: 'look', input: {}, part: 1 } as const;
    const body = provider.wire({
      model: 'm',
      tools: [],
      toolChoice: 'auto',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', response, content: [{ type: 'thinking', text: 'I look first.', part: 0, replay }, call] },
        {
          role: 'tool',
          content: [{ type: 'tool_result', callId: 'call_1', name: 'look', status: 'ok', content: [] }],
        },
      ],
    } satisfies MessageRequest);
    expect(JSON.stringify(body).includes('I look first.')).toBe(goesBack);
  });

  test('OPENAI_BASE_URL leads elsewhere, where nothing of the vendor is assumed', () => {
    const elsewhere = endpoints({}, { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).get('openai');
    expect(elsewhere).toMatchObject({ baseURL: 'http://127.0.0.1:9/v1', dialect: 'generic' });
    expect(endpoints({}, { OPENAI_BASE_URL: 'https://eu.api.openai.com/v1' }).get('openai')).toMatchObject({
      dialect: 'openai',
    });
    expect(() => endpoints({}, { OPENAI_BASE_URL: 'localhost' })).toThrow(/OPENAI_BASE_URL is no URL/);
  });

  test('Azure is known by its endpoint', () => {
    const env = { AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com/', AZURE_OPENAI_API_KEY: 'k' };
    expect(endpoints({}, env).get('azure')).toMatchObject({
      baseURL: 'https://me.openai.azure.com/openai/v1',
      dialect: 'azure',
    });
    expect(endpoints({}, {}).has('azure')).toBe(false);
  });

  test('without their key are not built, offline always is', async () => {
    const registry = await buildProviders({}, {}, 'offline/extractive');
    expect(registry.ids).toContain('offline');
    expect(registry.ids).toContain('ollama');
    expect(registry.ids).not.toContain('anthropic');
    await expect(buildProviders({}, {}, 'anthropic/m')).rejects.toThrow(HoldfastError);
  });

  test('do not take one vendor’s settings from the process for another', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      OPENAI_BASE_URL: 'http://wrong.example',
      OPENAI_ORG_ID: 'org-wrong',
      ANTHROPIC_BASE_URL: 'http://wrong.example',
      ANTHROPIC_AUTH_TOKEN: 'wrong',
    });
    try {
      const registry = await buildProviders(
        {},
        { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' },
        'offline/extractive',
      );
      expect(registry.get('openai')?.scope('m').endpoint).toBe('https://api.openai.com/v1');
      expect(registry.get('anthropic')?.scope('m').endpoint).toBe('https://api.anthropic.com');
      expect(registry.get('deepseek')?.scope('m').endpoint).toBe('https://api.deepseek.com');
    } finally {
      process.env = before;
    }
  });

  test('secrets are found by the names of variables too, short values left out', () => {
    expect(
      secretValues(
        {},
        { SOME_API_KEY: 'long-enough', MY_TOKEN: 'short', PATH: '/usr/bin', DB_PASSWORD: 'hunter2-hunter2' },
      )
        .slice()
        .sort(),
    ).toEqual(['hunter2-hunter2', 'long-enough']);
  });
});

describe('local servers', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  async function serving(body: string | undefined, status = 200): Promise<{ readonly baseURL: string }> {
    const server = createServer((request, response) => {
      if (body === undefined) return; // Never answers.
      response.writeHead(request.url === '/v1/models' ? status : 404, { 'content-type': 'application/json' });
      response.end(body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
  }

  test('the first of the list that has a model is taken; what answers otherwise is nobody', async () => {
    const good = JSON.stringify({ object: 'list', data: [{ id: 'nomic-embed-text' }, { id: 'chat-model' }] });
    const known = {
      silent: await serving(undefined),
      html: await serving('<html>'),
      error: await serving(good, 500),
      empty: await serving('{"data":[]}'),
      odd: await serving('{"data":[null,{"id":5}]}'),
      good: await serving(good),
      later: await serving(good),
    };
    expect(await firstLocalModel(known, 1500)).toEqual({
      provider: 'good',
      model: 'chat-model',
      baseURL: known.good.baseURL,
    });
    const { good: _good, later: _later, ...others } = known;
    expect(await firstLocalModel({ ...others, closed: { baseURL: 'http://127.0.0.1:1/v1' } }, 1500)).toBeUndefined();
  });
});
