import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';
import { effectClass } from '../../../src/tools/effect-class.ts';
import { call, freshFolder, lines, program, published, runs, stdio, testServers, text, until } from './servers.ts';

test('all pages are read, in order', async () => {
  const folder = freshFolder();
  const paged = await testServers([stdio(folder, '--page', '3')]).all.offer();
  const whole = await testServers([stdio(freshFolder())]).all.offer();
  expect(paged.specs).toEqual(whole.specs);
  expect(lines(folder, 'lists').length).toBeGreaterThan(5);
});

test('a list without an end is an error of that server', async () => {
  const folder = freshFolder();
  writeFileSync(path.join(folder, 'circle'), '');
  expect(await testServers([stdio(folder)]).all.offer()).toEqual({
    specs: [],
    away: [{ server: 'scripted', reason: 'its list of tools does not end' }],
  });
});

test('hints are kept as claimed; none means at most once', async () => {
  const folder = freshFolder();
  writeFileSync(
    path.join(folder, 'extra.json'),
    JSON.stringify([
      { name: 'liar', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, destructiveHint: true } },
    ]),
  );
  const source = testServers([stdio(folder)]).all;
  const { specs } = await source.offer();
  const effects = specs.map((spec) => [spec.name, effectClass(source.tool(spec) as never)]);
  expect(Object.fromEntries(effects)).toMatchObject({
    scripted__echo: 'read_only',
    scripted__set_and_die: 'idempotent',
    scripted__note: 'at_most_once',
    scripted__liar: 'at_most_once',
  });
});

test('a worker without effects is offered only what says that it reads', async () => {
  const servers = testServers([stdio(freshFolder())], { allowEffects: false });
  const { specs } = await servers.all.offer();
  expect(specs.map(({ name }) => name)).toContain('scripted__echo');
  expect(specs.map(({ name }) => name)).not.toContain('scripted__note');
  expect(servers.logged).toContainEqual(
    expect.objectContaining({
      event: 'mcp.tools_left_out',
      tools: expect.arrayContaining(['note: it is not marked as read-only']),
    }),
  );
});

test('a tool that cannot be offered costs only itself', async () => {
  const folder = freshFolder();
  const inputSchema = { type: 'object' };
  writeFileSync(
    path.join(folder, 'extra.json'),
    JSON.stringify([
      { name: 'a.b', inputSchema },
      { name: 'a_b', inputSchema },
      { name: 'list', inputSchema: { type: 'array' } },
      { name: 'n'.repeat(200), inputSchema },
      { name: 'task', inputSchema, execution: { taskSupport: 'required' } },
      { name: 'long', inputSchema, description: 'x'.repeat(300_000) },
      { inputSchema },
      { name: 'fine', inputSchema },
    ]),
  );
  const servers = testServers([stdio(folder)]);
  const { specs, away } = await servers.all.offer();
  expect(away).toEqual([]);
  const [{ listing } = { listing: undefined }] = await servers.listings();
  expect(specs.at(-1)?.name).toBe('scripted__fine');
  expect(specs.map(({ name }) => name).filter((name) => /a.b$|list|task|long/.test(name))).toEqual([]);
  expect(listing?.ok === true ? listing.leftOut : []).toEqual([
    expect.stringMatching(/^list: .*must be an object/),
    expect.stringMatching(/^n{200}: .*at most 128 characters/),
    'task: it runs only as a task, which is not supported',
    'long: its description is too long',
    'a tool without a name: it is not described as MCP wants it',
    'scripted__a.b, scripted__a_b: all would be called scripted__a_b',
  ]);
});

test('a changed list counts for the next run; the frozen tools of an open one stay', async () => {
  const folder = freshFolder();
  const source = testServers([stdio(folder)]).all;
  const before = await source.offer();
  await call(source, 'scripted__change');
  await until(() => lines(folder, 'lists').length > 0);
  const frozen = before.specs.find(({ name }) => name === 'scripted__echo');
  const after = await source.offer();
  expect(after.specs.map(({ name }) => name)).toContain('scripted__added');
  expect(after.specs[0]).toMatchObject({ description: 'Says it otherwise.', annotations: {} });
  expect(lines(folder, 'lists')).toHaveLength(2);
  expect(frozen === undefined ? undefined : source.tool(frozen)).toMatchObject({
    description: 'Says it again.',
    annotations: { readOnlyHint: true },
  });
});

/** An address where nobody listens. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/mcp`;
}

test('a server that cannot be started is away, with one warning; the others go on', async () => {
  const folder = freshFolder();
  const servers = testServers([
    program('missing', 'no-such-program-xyz', [], folder),
    program('broken', process.execPath, ['-e', 'console.error("no config"); process.exit(2)'], folder),
    { name: 'closed', server: { kind: 'http', url: await closedAddress(), headers: {} } },
    { name: 'unset', server: { kind: 'unset', reason: 'not set in the environment: TOKEN' } },
    stdio(folder),
  ]);
  const first = await servers.all.offer();
  await servers.all.offer();
  expect(first.specs.length).toBeGreaterThan(5);
  expect(first.away).toEqual([
    { server: 'missing', reason: 'there is no program "no-such-program-xyz"' },
    { server: 'broken', reason: 'it ended with exit code 2' },
    { server: 'closed', reason: expect.stringMatching(/fetch failed.*ECONNREFUSED/) },
    { server: 'unset', reason: 'not set in the environment: TOKEN' },
  ]);
  expect(
    servers.logged
      .filter(({ event }) => event === 'mcp.away')
      .map(({ server }) => server)
      .sort(),
  ).toEqual(['broken', 'closed', 'missing', 'unset']);
  expect(servers.logged).toContainEqual(
    expect.objectContaining({ event: 'mcp.stderr', server: 'broken', line: 'no config' }),
  );
});

test('a server that says nothing is waited for no longer than allowed, and not again within its rest', async () => {
  const folder = freshFolder();
  const silent = program('silent', process.execPath, ['-e', 'process.stdin.resume()'], folder);
  const servers = testServers([silent], { patienceMs: 50, restMs: 60_000 });
  const away = [{ server: 'silent', reason: 'it has not answered within 0.05 s' }];
  expect((await servers.all.offer()).away).toEqual(away);
  expect((await servers.all.offer()).away).toEqual(away);
});

test('a server and all that it started end with the worker', async () => {
  const folder = freshFolder();
  const servers = testServers([stdio(folder)]);
  const child = Number(text(await call(servers.all, 'scripted__child')));
  const [server] = lines(folder, 'starts').map(Number);
  expect([runs(child), runs(server ?? 0)]).toEqual([true, true]);
  await servers.close();
  await until(() => !runs(child) && !runs(server ?? 0));
});

test('what a crashed server had started ends with it', async () => {
  const folder = freshFolder();
  const servers = testServers([stdio(folder)]);
  const child = Number(text(await call(servers.all, 'scripted__child')));
  await call(servers.all, 'scripted__note_and_die');
  await until(() => !runs(child));
});

test('a server finds no variable in its environment but those it was given', async () => {
  const environment = JSON.parse(text(await call(testServers([stdio(freshFolder())]).all, 'scripted__environment')));
  expect(Object.keys(environment).sort()).toEqual(['HOME', 'PATH']);
});

test('the published everything server', async () => {
  const folder = freshFolder();
  const source = testServers([
    published('everything', '@modelcontextprotocol/server-everything', ['stdio'], folder),
  ]).all;
  const { specs, away } = await source.offer();
  expect(away).toEqual([]);
  expect(specs.length).toBeGreaterThan(5);
  expect(text(await call(source, 'everything__echo', { message: 'hi' }))).toBe('Echo: hi');
  expect(text(await call(source, 'everything__get-sum', { a: 2, b: 3 }))).toContain('5');
  const image = await call(source, 'everything__get-tiny-image');
  expect(image.blocks).toContainEqual(expect.objectContaining({ type: 'image', mediaType: 'image/png' }));
  const structured = await call(source, 'everything__get-structured-content', { location: 'New York' });
  expect(text(structured)).toContain('temperature');
  expect(await call(source, 'everything__echo', {})).toMatchObject({ status: 'error', executed: false });
});

test('the published filesystem server', async () => {
  const folder = freshFolder();
  writeFileSync(path.join(folder, 'a.txt'), 'hello');
  const source = testServers([published('files', '@modelcontextprotocol/server-filesystem', [folder], folder)]).all;
  const { specs } = await source.offer();
  const effects = Object.fromEntries(specs.map((spec) => [spec.name, effectClass(source.tool(spec) as never)]));
  expect(effects).toMatchObject({ files__read_text_file: 'read_only' });
  expect(text(await call(source, 'files__read_text_file', { path: path.join(folder, 'a.txt') }))).toContain('hello');
  expect(await call(source, 'files__write_file', { path: path.join(folder, 'b.txt'), content: 'x' })).toMatchObject({
    status: 'ok',
  });
  expect(text(await call(source, 'files__read_text_file', { path: path.join(folder, 'b.txt') }))).toContain('x');
  const outside = await call(source, 'files__read_text_file', { path: '/etc/hostname' });
  expect(outside.status).toBe('error');
  expect(text(outside)).toMatch(/outside allowed/);
});
