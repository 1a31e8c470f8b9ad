import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveDevServer } from '../../src/devserver/resolve.ts';

// A port that nothing listens on stands for a machine without internet.
const NO_INTERNET = 'http://127.0.0.1:9';

let root: string;
let said: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-resolve-'));
  said = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(path: string, script: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function fakeTemporal(path: string, version = '1.5.1'): string {
  return program(path, `echo "temporal version ${version} (Server 1.29.1, UI 2.42.1)"`);
}

function resolve(over: { path?: string; env?: Record<string, string>; service?: string } = {}) {
  return resolveDevServer({
    env: {
      PATH: [over.path ?? join(root, 'empty'), '/bin', '/usr/bin'].join(delimiter),
      HOME: join(root, 'home'),
      ...over.env,
    },
    cacheDir: join(root, 'workspace', 'bin'),
    say: (line) => said.push(line),
    progress: () => {},
    downloadService: over.service ?? NO_INTERNET,
    downloadMinBytes: 10,
  });
}

describe('order', () => {
  test('PATH comes before the caches, and the step is told', async () => {
    const path = fakeTemporal(join(root, 'path', 'temporal'));
    fakeTemporal(join(root, 'workspace', 'bin', 'temporal'), '1.4.0');
    expect(await resolve({ path: join(root, 'path') })).toEqual({ path, version: '1.5.1' });
    expect(said).toEqual([`Temporal CLI 1.5.1 on PATH: ${path}`]);
  });

  test.each([
    ['the workspace cache', ['workspace', 'bin'], {}],
    ['the default user cache', ['home', '.cache', 'holdfast', 'bin'], {}],
    ['the default Go bin folder', ['home', 'go', 'bin'], {}],
  ])('%s is used when PATH has none', async (_name, folder, env) => {
    const path = fakeTemporal(join(root, ...folder, 'temporal'));
    expect((await resolve({ env })).path).toBe(path);
    expect(said).toHaveLength(1);
  });

  test.each(['XDG_CACHE_HOME', 'GOBIN', 'GOPATH'])('%s is honoured', async (name) => {
    const below = { XDG_CACHE_HOME: ['holdfast', 'bin'], GOBIN: [], GOPATH: ['bin'] }[name] ?? [];
    const path = fakeTemporal(join(root, 'named', ...below, 'temporal'));
    expect((await resolve({ env: { [name]: join(root, 'named') } })).path).toBe(path);
  });

  test('one that is too old and one that does not run are passed over with a word', async () => {
    fakeTemporal(join(root, 'path', 'temporal'), '0.11.0');
    program(join(root, 'workspace', 'bin', 'temporal'), 'exit 1');
    const path = fakeTemporal(join(root, 'home', 'go', 'bin', 'temporal'));
    expect((await resolve({ path: join(root, 'path') })).path).toBe(path);
    expect(said[0]).toMatch(/0\.11\.0 is too old/);
    expect(said[1]).toMatch(/does not run/);
  });
});

describe('fetching', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function serve(archive: Buffer | undefined, file = 'temporal'): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const running = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/archive') return void response.end(archive);
      if (archive === undefined) return void response.writeHead(404).end();
      const { port } = running.address() as AddressInfo;
      response.end(JSON.stringify({ archiveUrl: `http://127.0.0.1:${port}/archive`, fileToExtract: file }));
    });
    server = running;
    await new Promise<void>((done) => running.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${(running.address() as AddressInfo).port}`, asked };
  }

  function archiveWithTemporal(): Buffer {
    fakeTemporal(join(root, 'archive', 'temporal'));
    execFileSync('tar', ['-czf', join(root, 'a.tgz'), '-C', join(root, 'archive'), 'temporal']);
    return readFileSync(join(root, 'a.tgz'));
  }

  test("the SDK's download goes to the user's cache, where the next folder finds it without asking", async () => {
    const service = await serve(archiveWithTemporal());
    const path = join(root, 'home', '.cache', 'holdfast', 'bin', 'temporal');
    expect(await resolve({ service: service.url })).toEqual({ path, version: '1.5.1' });
    expect(service.asked[0]).toMatch(
      /^\/cli\/default\?arch=\w+&platform=\w+&sdk-name=sdk-typescript&sdk-version=[\d.]+$/,
    );
    expect((await resolve({ service: NO_INTERNET })).path).toBe(path);
    expect(service.asked).toHaveLength(2);
  });

  test.each([
    ['an archive cut short', () => archiveWithTemporal().subarray(0, 60), 'temporal'],
    ['a file name that climbs out', () => archiveWithTemporal(), '../temporal'],
    ['a file name that is an option', () => archiveWithTemporal(), '--checkpoint-action=exec=true'],
  ])('%s leaves nothing behind', async (_name, archive, file) => {
    const service = await serve(archive(), file);
    await expect(resolve({ service: service.url })).rejects.toMatchObject({ code: 'no_binary' });
    expect(existsSync(join(root, 'home', '.cache', 'holdfast', 'bin', 'temporal'))).toBe(false);
  });

  test('go install comes last, into the cache, with its whole line', async () => {
    const log = join(root, 'go.log');
    program(
      join(root, 'path', 'go'),
      `echo "$@" > ${log}; printf '#!/bin/sh\\necho "temporal version 1.5.1 (x)"\\n' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`,
    );
    const found = await resolve({ path: join(root, 'path') });
    expect(found.path).toBe(join(root, 'home', '.cache', 'holdfast', 'bin', 'temporal'));
    expect(readFileSync(log, 'utf8').trim()).toBe(
      'install -ldflags -s -w -X github.com/temporalio/cli/temporalcli.Version=1.5.1 github.com/temporalio/cli/cmd/temporal@v1.5.1',
    );
    expect(said.some((line) => line.includes("trying the SDK's download"))).toBe(true);
  });

  test('when nothing works one error names every way to mend it', async () => {
    program(join(root, 'path', 'go'), 'echo "go: no network" >&2; exit 1');
    const error = await resolve({ path: join(root, 'path') }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'no_binary', message: expect.stringContaining('go: no network') });
    for (const way of ['on PATH', 'TEMPORAL_ADDRESS', 'Go', 'temporal.download']) {
      expect(error).toMatchObject({ hint: expect.stringContaining(way) });
    }
  });
});
