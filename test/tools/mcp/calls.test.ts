import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { call, freshFolder, httpServer, lines, stdio, testServers, text, until } from './servers.ts';

const at = (folder: string, ...flags: readonly string[]) => testServers([stdio(folder, ...flags)]).all;

describe('results', () => {
  test('text comes as it is, and the server is started once for all calls', async () => {
    const folder = freshFolder();
    const source = at(folder);
    for (const word of ['one', 'two']) {
      expect(await call(source, 'scripted__echo', { text: word })).toMatchObject({
        status: 'ok',
        blocks: [{ type: 'text', text: word }],
      });
    }
    expect(lines(folder, 'starts')).toHaveLength(1);
    expect(lines(folder, 'lists')).toEqual(['first']);
  });

  test('images, audio and resources come as media; what nobody knows comes as its JSON', async () => {
    const { blocks, status } = await call(at(freshFolder()), 'scripted__media');
    expect(status).toBe('ok');
    expect(blocks).toMatchObject([
      { type: 'text', text: 'a picture:' },
      { type: 'image', mediaType: 'image/png' },
      { type: 'audio', mediaType: 'audio/wav', base64: 'AAAA' },
      { type: 'text', text: 'mem:a\nthe text' },
      { type: 'file', mediaType: 'application/pdf', name: 'mem:b' },
      { type: 'text', text: expect.stringContaining('"resource_link"') },
    ]);
  });

  test('a structured result without blocks is its JSON', async () => {
    expect(text(await call(at(freshFolder()), 'scripted__structured'))).toBe('{"answer":42}');
  });

  test('isError is an error that the model reads', async () => {
    expect(await call(at(freshFolder()), 'scripted__fails')).toMatchObject({
      status: 'error',
      blocks: [{ text: 'no such thing' }],
    });
  });

  test('a refusal of the server is a result in its words', async () => {
    const result = await call(at(freshFolder()), 'scripted__refuses');
    expect(result).toMatchObject({ status: 'error', executed: true });
    expect(text(result)).toBe('The server scripted refused the call: b is needed since yesterday');
  });

  test('arguments that do not fit the schema never reach the server', async () => {
    const folder = freshFolder();
    expect(await call(at(folder), 'scripted__note', { text: 5 })).toMatchObject({ status: 'error', executed: false });
    expect(lines(folder, 'notes')).toEqual([]);
  });

  test('lines on its standard output that are no messages are skipped', async () => {
    expect(text(await call(at(freshFolder()), 'scripted__garbage'))).toBe('still here');
  });

  test('progress is passed on, and the call carries its key', async () => {
    const folder = freshFolder();
    const notes: string[] = [];
    await call(at(folder), 'scripted__steps', {}, { progress: (note) => notes.push(note) });
    expect(notes).toEqual(['1/2 one', '2/2 two']);
    expect(JSON.parse(lines(folder, 'meta')[0] ?? '')).toMatchObject({ 'holdfast/idempotencyKey': 'call-1' });
  });

  test('a result of many megabytes comes whole', async () => {
    const result = await call(at(freshFolder()), 'scripted__huge', { bytes: 12_000_000 });
    expect(result.status).toBe('ok');
    expect(text(result)).toHaveLength(12_000_000);
  });
});

describe('a session that is lost under way', () => {
  test('a call that only reads is made again in a new one', async () => {
    const folder = freshFolder();
    const servers = testServers([stdio(folder)]);
    expect(await call(servers.all, 'scripted__read_and_die')).toMatchObject({
      status: 'ok',
      blocks: [{ text: 'alive' }],
    });
    expect(lines(folder, 'reads')).toHaveLength(2);
    expect(servers.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'mcp.lost', reason: 'it ended with exit code 3' }),
    );
  });

  test('so is one that may be repeated', async () => {
    const folder = freshFolder();
    expect(await call(at(folder), 'scripted__set_and_die')).toMatchObject({ status: 'ok' });
    expect(lines(folder, 'sets')).toHaveLength(2);
  });

  test('one that must not be repeated has an unknown outcome and is not made again', async () => {
    const folder = freshFolder();
    const source = at(folder);
    const result = await call(source, 'scripted__note_and_die');
    expect(result).toMatchObject({ status: 'unknown_outcome', isError: true });
    expect(text(result)).toMatch(/it ended with exit code 3\. It may or may not have been done/);
    expect(lines(folder, 'notes')).toEqual(['last']);
    expect(await call(source, 'scripted__note', { text: 'next' })).toMatchObject({ status: 'ok' });
    expect(lines(folder, 'starts')).toHaveLength(2);
  });

  test('a call that kills every server is given up', async () => {
    const folder = freshFolder();
    const result = await call(at(folder), 'scripted__always_die');
    expect(result.status).toBe('error');
    expect(text(result)).toBe('The server scripted failed again and again: it ended with exit code 3');
    expect(lines(folder, 'deaths')).toHaveLength(3);
  });

  test('a message beyond the limit ends the server, and is not asked for again', async () => {
    const folder = freshFolder();
    const source = at(folder);
    const result = await call(source, 'scripted__huge', { bytes: 70_000_000 });
    expect(result.status).toBe('error');
    expect(text(result)).toMatch(/cannot be used: it sent a message of more than 67108864 bytes/);
    expect(lines(folder, 'huge')).toHaveLength(1);
    expect(await call(source, 'scripted__echo', { text: 'on' })).toMatchObject({ status: 'ok' });
  });
});

describe('a call that takes long', () => {
  test('is cancelled at the server when its time is up', async () => {
    const folder = freshFolder();
    const settings = { ...stdio(folder), timeoutSecs: 0.3 };
    const result = await call(testServers([settings]).all, 'scripted__slow');
    expect(result.status).toBe('timed_out');
    await until(() => lines(folder, 'slow').includes('cancelled'));
  });

  test('is cancelled at the server with the run', async () => {
    const folder = freshFolder();
    const source = at(folder);
    await source.offer();
    const cancel = new AbortController();
    const result = call(source, 'scripted__slow', {}, { signal: cancel.signal });
    await until(() => lines(folder, 'slow').includes('began'));
    cancel.abort(new Error('stop'));
    expect((await result).status).toBe('cancelled');
    await until(() => lines(folder, 'slow').includes('cancelled'));
    expect(await call(source, 'scripted__echo', { text: 'on' })).toMatchObject({ status: 'ok' });
    expect(lines(folder, 'starts')).toHaveLength(1);
  });
});

describe('over HTTP', () => {
  test('calls share a session, with the headers of the config', async () => {
    const folder = freshFolder();
    const { settings } = await httpServer(folder, { authorization: 'Bearer abc' });
    const source = testServers([settings]).all;
    expect(text(await call(source, 'scripted__echo', { text: 'hi' }))).toBe('hi');
    expect(text(await call(source, 'scripted__echo', { text: 'ho' }))).toBe('ho');
    expect(new Set(lines(folder, 'authorization'))).toEqual(new Set(['Bearer abc']));
  });

  test('a session that the server has forgotten is opened anew, for any call', async () => {
    const folder = freshFolder();
    const { settings } = await httpServer(folder);
    const source = testServers([settings]).all;
    await call(source, 'scripted__note', { text: 'one' });
    writeFileSync(path.join(folder, 'forget'), '');
    expect(await call(source, 'scripted__note', { text: 'two' })).toMatchObject({ status: 'ok' });
    expect(lines(folder, 'notes')).toEqual(['one', 'two']);
  });

  test('a server that dies under a call with effects leaves its outcome unknown', async () => {
    const folder = freshFolder();
    const { settings } = await httpServer(folder);
    const source = testServers([settings]).all;
    await source.offer();
    const result = await call(source, 'scripted__note_and_die');
    expect(result.status).toBe('unknown_outcome');
    expect(lines(folder, 'notes')).toEqual(['last']);
  });

  test('a server that is gone before the call: nothing was done', async () => {
    const folder = freshFolder();
    const { settings, child } = await httpServer(folder);
    const servers = testServers([settings]);
    const source = servers.all;
    const { specs } = await source.offer();
    child.kill('SIGKILL');
    await until(() => servers.logged.some(({ event }) => event === 'mcp.lost'));
    const spec = specs.find(({ name }) => name === 'scripted__note');
    const tool = spec === undefined ? undefined : source.tool(spec);
    const context = { signal: new AbortController().signal, idempotencyKey: 'k', progress: () => undefined };
    await expect(tool?.execute({ text: 'x' }, context as never)).rejects.toThrow(
      /^The server scripted cannot be reached, so nothing was done: /,
    );
  });

  test('a message beyond the limit is no result, and is not asked for again', async () => {
    const folder = freshFolder();
    const { settings } = await httpServer(folder);
    const source = testServers([settings]).all;
    const result = await call(source, 'scripted__huge', { bytes: 70_000_000 });
    expect(result.status).toBe('error');
    expect(text(result)).toMatch(/cannot be used: it sent a message that is too long/);
    expect(lines(folder, 'huge')).toHaveLength(1);
    expect(text(await call(source, 'scripted__echo', { text: 'on' }))).toBe('on');
  });

  test('a refused key is told as the server says it', async () => {
    const server = createServer((_request, response) => void response.writeHead(401).end('bad token'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const source = testServers([{ name: 'locked', server: { kind: 'http', url, headers: {} } }]).all;
    expect((await source.offer()).away).toEqual([
      { server: 'locked', reason: 'it answered with HTTP status 401: bad token' },
    ]);
  });
});
