import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { TEMPORAL } from './locations.ts';
import type { Narrator } from './narrator.ts';

/** Temporal's download service, the one that its SDKs ask. */
const SERVICE = 'https://temporal.download';
/** The CLI is some 100 MB; anything below is an error page or a torso. */
const MIN_BYTES = 20_000_000;
const ANSWER_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;
const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export interface DownloadOptions extends Narrator {
  /** Folder that gets the program. */
  readonly into: string;
  /** Version of the Temporal SDK, whose matching CLI is asked for. */
  readonly sdkVersion: string;
  readonly service?: string;
  readonly minBytes?: number;
}

/**
 * Downloads the CLI that belongs to the SDK, by the SDK's own protocol: the service names an archive and the file in it.
 * Without internet it rejects at once. Resolves with the path of the program; the file appears whole or not at all.
 */
export async function downloadTemporal(options: DownloadOptions): Promise<string> {
  const { archiveUrl, fileToExtract } = await archiveOf(options);
  await mkdir(options.into, { recursive: true });
  const scratch = await mkdtemp(join(options.into, '.download-'));
  try {
    const archive = join(scratch, 'archive');
    await fetchTo(archiveUrl, archive, options);
    // bsdtar of Windows 10 and macOS, and GNU tar: all read .tar.gz; Windows' own also reads .zip.
    await promisify(execFile)('tar', ['-xf', archive, '-C', scratch, fileToExtract]);
    const extracted = join(scratch, fileToExtract);
    const { size } = await stat(extracted);
    if (size < (options.minBytes ?? MIN_BYTES)) throw new Error(`${fileToExtract} has only ${size} bytes`);
    await chmod(extracted, 0o755);
    const target = join(options.into, TEMPORAL);
    await rename(extracted, target).catch(() => copyFile(extracted, target));
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Archive {
  readonly archiveUrl: string;
  readonly fileToExtract: string;
}

async function archiveOf(options: DownloadOptions): Promise<Archive> {
  const platform = PLATFORMS[process.platform];
  const arch = ARCHITECTURES[process.arch];
  if (platform === undefined || arch === undefined) {
    throw new Error(`Temporal publishes no CLI for ${process.platform} on ${process.arch}`);
  }
  const url = new URL('/cli/default', options.service ?? SERVICE);
  const question = { arch, platform, 'sdk-name': 'sdk-typescript', 'sdk-version': options.sdkVersion };
  for (const [name, value] of Object.entries(question)) url.searchParams.set(name, value);
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.host} answers ${response.status}`);
  const body: unknown = await response.json();
  if (!isArchive(body)) throw new Error(`${url.host} did not name an archive`);
  return body;
}

function isArchive(body: unknown): body is Archive {
  return (
    typeof body === 'object' &&
    body !== null &&
    'archiveUrl' in body &&
    typeof body.archiveUrl === 'string' &&
    'fileToExtract' in body &&
    typeof body.fileToExtract === 'string' &&
    // It becomes an argument and a path below our scratch folder.
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(body.fileToExtract)
  );
}

async function fetchTo(url: string, file: string, { progress }: Narrator): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok || response.body === null) throw new Error(`${new URL(url).host} answers ${response.status}`);
  const total = Number(response.headers.get('content-length') ?? 0);
  let received = 0;
  const counted = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      received += chunk.length;
      progress(`Downloading the Temporal CLI: ${megabytes(received)}${total > 0 ? ` of ${megabytes(total)}` : ''}`);
      yield chunk;
    }
  };
  await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(file));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
