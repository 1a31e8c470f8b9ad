import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Finished, Workspace } from '../cli/workspace.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const SCRIPTED_SERVER = path.join(import.meta.dirname, '../tools/mcp/scripted-server.mjs');

/** A key that every encoding changes, and a value beside it that is no secret: what shows the one would show the other. */
const KEY = `cnry/${randomBytes(9).toString('hex')}"\\+&<~!${randomBytes(9).toString('hex')}=end`;
const MARKER = `marker-${randomBytes(9).toString('hex')}`;

/** The forms that people search a leak by; written without a look at how the product masks. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const padded = [0, 1, 2].flatMap((n) => {
    const encoded = Buffer.from('x'.repeat(n) + secret)
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last characters depend on what stands beside the secret.
    const core = encoded.slice(n === 0 ? 0 : 4, -2);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ v: secret }).toString().slice(2),
    // A part of it is a leak, too.
    secret.slice(0, 23),
    secret.slice(-22),
    ...padded,
  ];
}

const TOOLS = `
import { defineConfig, defineTool } from 'holdfast';

const encodings = (text) => [
  text,
  JSON.stringify(text),
  JSON.stringify(JSON.stringify(text)),
  encodeURIComponent(text),
  new URLSearchParams({ text }).toString(),
  Buffer.from(text).toString('base64'),
  Buffer.from('ab' + text).toString('base64url'),
];
const printing = defineTool({
  name: 'print_environment',
  description: 'Prints the environment.',
  annotations: { readOnlyHint: true },
  execute: async (_input, { progress }) => {
    progress('reading ' + process.env.CANARY_API_KEY);
    return { marker: process.env.MARKER, all: process.env, encoded: encodings(process.env.CANARY_API_KEY) };
  },
});
const failing = defineTool({
  name: 'fail',
  description: 'Fails.',
  annotations: { readOnlyHint: true },
  execute: () => {
    throw new Error('cannot log in with ' + process.env.CANARY_API_KEY, { cause: new Error(encodings(process.env.CANARY_API_KEY).join(' ')) });
  },
});
const filing = defineTool({
  name: 'file',
  description: 'Gives a file.',
  annotations: { readOnlyHint: true },
  execute: () => ({
    content: [{ type: 'file', mediaType: 'text/plain', base64: Buffer.from('the key is ' + process.env.CANARY_API_KEY).toString('base64') }],
  }),
});
`;

function config(baseURL: string, folder: string): string {
  return `${TOOLS}
export default defineConfig({
  model: 'vendor/m',
  logLevel: 'debug',
  providers: { vendor: { api: 'openai-chat', baseURL: ${JSON.stringify(baseURL)}, apiKeyEnv: 'CANARY_API_KEY' } },
  mcpServers: {
    echoing: {
      command: process.execPath,
      args: [${JSON.stringify(SCRIPTED_SERVER)}, ${JSON.stringify(folder)}],
      env: { GIVEN: { env: 'CANARY_API_KEY' }, MARKER: ${JSON.stringify(MARKER)} },
    },
  },
  agents: [{ name: 'default', tools: [printing, failing, filing, 'mcp:echoing'] }],
});
`;
}

const CALLS = ['print_environment', 'fail', 'file', 'echoing__environment'];

/** A vendor that fails for a while, then calls every tool, then refuses the key; each time it says the key it was given. */
async function startVendor(): Promise<{ readonly server: Server; readonly baseURL: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(await bodyOf(request));
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const said = [key, encodeURIComponent(key), Buffer.from(key).toString('base64'), JSON.stringify({ key })].join(' ');
    if (asked.length !== 2) {
      const status = asked.length < 2 ? 500 : 401;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `${MARKER} no luck with ${said}`, type: 'x', code: key } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const calls = CALLS.map((name, index) => ({
      index,
      id: `c${index}`,
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.end(`${chunk({ role: 'assistant', tool_calls: calls }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, asked, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

/** All that the run left: stores, histories, logs (latin1, so that every byte is one character), and what it printed. */
function leftBy(folder: string, finished: Finished): ReadonlyMap<string, string> {
  const state = path.join(folder, '.holdfast');
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(state, name))
    .filter((file) => statSync(file).isFile())
    .map((file): [string, string] => [path.relative(state, file), readFileSync(file, 'latin1')]);
  return new Map([...files, ['stdout', finished.out], ['stderr', finished.err]]);
}

let workspace: Workspace;
let vendor: Awaited<ReturnType<typeof startVendor>>;
let left: ReadonlyMap<string, string>;

beforeAll(async () => {
  vendor = await startVendor();
  workspace = new Workspace({ HOLDFAST_MODEL: 'vendor/m', CANARY_API_KEY: KEY, MARKER });
  writeFileSync(path.join(workspace.folder, 'holdfast.config.ts'), config(vendor.baseURL, workspace.folder));
  const described = { name: 'described', description: `Uses ${KEY}. ${MARKER}`, inputSchema: { type: 'object' } };
  writeFileSync(path.join(workspace.folder, 'extra.json'), JSON.stringify([described]));
  left = leftBy(workspace.folder, await workspace.run(['run', '--output', 'ndjson', 'Call all tools.']));
});
afterAll(() => {
  workspace.dispose();
  vendor.server.close();
});

test('the run went through all that could leak', () => {
  expect(left.get('stdout')).toMatch(/"run_failed"/);
  expect(vendor.asked).toHaveLength(3);
  const results = JSON.parse(vendor.asked[2] ?? '').messages.filter(({ role }: { role: string }) => role === 'tool');
  expect(results).toHaveLength(CALLS.length);
  expect(JSON.stringify(results).split(MARKER).length).toBeGreaterThanOrEqual(3);
});

test('what is no secret is found in the store, the histories and the log, so that a key would be', () => {
  const found = [...left].filter(([, text]) => text.includes(MARKER)).map(([name]) => name);
  expect(found.some((name) => name.startsWith('holdfast.db'))).toBe(true);
  expect(found.some((name) => name.startsWith('temporal.db'))).toBe(true);
  expect(found.some((name) => name.includes('log'))).toBe(true);
});

test.each(formsOf(KEY))('the key is nowhere as %j', (form) => {
  expect([...left].filter(([, text]) => text.includes(form)).map(([name]) => name)).toEqual([]);
});

test('neither does the model see it', () => {
  for (const body of vendor.asked) {
    expect(formsOf(KEY).filter((form) => body.includes(form))).toEqual([]);
  }
});
