import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** A private PostgreSQL server on loopback, without a password, for as long as a test run. */
interface PostgresServer {
  /** `postgres://…` of a superuser and an empty database. */
  readonly url: string;
  /** Stops the server and removes its files. */
  readonly stop: () => Promise<void>;
}

/** Where Debian's packages put the server's programs, newest release first; `undefined` when there is no server. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const releases = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return releases.map((release) => join(root, release, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/**
 * Makes a cluster in a temporary folder and starts it on a free port. As root it runs as the user `postgres`, since
 * the server refuses root.
 *
 * @param durable whether commits reach the disk; tests need no power cut, benchmarks need the truth.
 */
export async function startPostgres(durable = false): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('no PostgreSQL server here: install the package "postgresql"');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
  const user = serverUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const initialise = ['-D', data, '-U', 'holdfast', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(join(programs, 'initdb'), initialise, { ...user, cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  const settings = [
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-k',
    folder,
    '-c',
    'max_connections=200',
    '-c',
    `fsync=${durable ? 'on' : 'off'}`,
  ];
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings], {
    ...user,
    cwd: folder,
    stdio: 'ignore',
  });
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  const stop = async (): Promise<void> => {
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answering(url, server);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/** An empty schema of its own on the server, as a URL that a store can be opened with. */
export async function freshDatabase(
  server: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await statement(server, `create schema ${name}`);
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${name}`);
  return { url: url.href, drop: () => statement(server, `drop schema ${name} cascade`) };
}

async function statement(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined;
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
    const ready = await statement(url, 'select 1').then(
      () => true,
      () => false,
    );
    if (ready) return;
    await delay(50);
  }
  throw new Error('PostgreSQL does not answer');
}

/** SIGINT is PostgreSQL's fast shutdown: open connections are dropped. */
async function stopped(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  await ended;
}
