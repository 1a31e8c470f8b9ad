// Makes a checkout ready to run and redoes only what is stale: packages, compiled sources, the workflow bundle.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootLock } from './boot-lock.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const LOCK_FILE = join(ROOT, 'package-lock.json');
const MODULES = join(ROOT, 'node_modules');
const INSTALL_STAMP = join(MODULES, '.holdfast-lock');
const BUILD_STAMP = join(ROOT, 'dist', '.build-stamp');
const BUNDLE = join(ROOT, 'dist', 'workflow-bundle.js');
const BUNDLE_STAMP = join(ROOT, 'dist', '.bundle-stamp');

/** What the workflow bundle is made of: the workflows and what they import. */
const BUNDLE_SOURCES = ['src/workflows', 'src/contract', 'src/transcript', 'package-lock.json'];
const BUILD_SOURCES = ['src', 'worker.ts', 'tsconfig.base.json', 'tsconfig.main.json', 'package-lock.json'];

/** Whether this is a checkout (sources beside us) rather than an installed package. */
export const isCheckout = () => existsSync(join(ROOT, 'tsconfig.main.json'));

/** Packages, compiled sources and bundle, up to date. Leaves the process when one cannot be made. */
export function bootstrap() {
  if (!installIsStale() && !buildIsStale() && !bundleIsStale()) return;
  bootLock(join(ROOT, '.holdfast', 'boot.lock'), () => {
    if (installIsStale()) install();
    if (buildIsStale()) build();
    if (bundleIsStale()) bundle();
  });
}

/** {@link bootstrap}, and the tests and benchmarks compiled too. Their errors are for `npm test`: tsc writes what it can. */
export function compileAll() {
  bootstrap();
  runNode([commandFile('typescript', 'tsc'), '-b'], { stdio: 'ignore' });
}

/** Runs a program of this checkout with Node and returns its exit code. Its output goes to our stderr: stdout is for results. */
export function runNode(args, options = {}) {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2], ...options });
  return status ?? 1;
}

/** The JavaScript file behind a package's command. */
export function commandFile(packageName, command) {
  const folder = join(MODULES, packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
}

/** The lock file, and the Node that native packages were built for. */
function installMark() {
  return `${sha256(readFileSync(LOCK_FILE))} ${nativeMark()}\n`;
}

function nativeMark() {
  return `${process.platform}-${process.arch} abi ${process.versions.modules}`;
}

function installIsStale() {
  const stamp = readIfThere(INSTALL_STAMP);
  if (stamp === installMark()) return false;
  const otherNode = stamp !== undefined && !stamp.trimEnd().endsWith(nativeMark());
  if (otherNode || !lockIsSatisfied()) return true;
  // Somebody ran npm by hand, or the lock file only lost packages.
  writeFileSync(INSTALL_STAMP, installMark());
  return false;
}

/** Whether all that the lock file wants is there: npm notes in node_modules what it put there. */
function lockIsSatisfied() {
  const noted = readIfThere(join(MODULES, '.package-lock.json'));
  if (noted === undefined) return false;
  const { packages: wanted } = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  const { packages: found } = JSON.parse(noted);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    return found[path] === undefined ? entry.optional === true : found[path].version === entry.version;
  });
}

function install() {
  say('Installing packages from the lock file (about a minute, once) …');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const ours = npm !== undefined && /npm-cli\.c?js$/.test(npm);
  const { status } = spawnSync(ours ? process.execPath : 'npm', ours ? [npm, ...args] : args, {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    env: { ...ownHeaders(), ...process.env },
    shell: !ours && process.platform === 'win32',
  });
  if (status !== 0)
    fail('The packages could not be installed; see above. Mend that (network? registry?) and start again.');
  writeFileSync(INSTALL_STAMP, installMark());
}

/** Where this Node brought its own headers, native packages compile with these instead of downloading some. */
function ownHeaders() {
  const prefix = join(dirname(process.execPath), '..');
  const version = readIfThere(join(prefix, 'include', 'node', 'node_version.h')) ?? '';
  const major = /#define NODE_MAJOR_VERSION (\d+)/.exec(version)?.[1];
  return major === process.versions.node.split('.')[0] ? { npm_config_nodedir: prefix } : {};
}

function buildIsStale() {
  return readIfThere(BUILD_STAMP) !== fingerprint(BUILD_SOURCES);
}

function build() {
  say('Compiling …');
  const mark = fingerprint(BUILD_SOURCES);
  if (runNode([commandFile('typescript', 'tsc'), '-b', 'tsconfig.main.json']) !== 0) {
    fail('The sources do not compile; see above.');
  }
  stamp(BUILD_STAMP, mark);
}

function bundleIsStale() {
  return !existsSync(BUNDLE) || readIfThere(BUNDLE_STAMP) !== fingerprint(BUNDLE_SOURCES);
}

function bundle() {
  say('Bundling the workflows …');
  const mark = fingerprint(BUNDLE_SOURCES);
  if (runNode([join(ROOT, 'bin', 'bundle-workflows.mjs'), BUNDLE]) !== 0) {
    fail('The workflows could not be bundled; see above.');
  }
  stamp(BUNDLE_STAMP, mark);
}

/** Changes when any file below the paths is added, removed or touched. Reads no file, so it takes milliseconds. */
function fingerprint(paths) {
  const lines = paths.flatMap((path) => {
    const full = join(ROOT, path);
    const found = statSync(full, { throwIfNoEntry: false });
    if (found === undefined) return [];
    const files = found.isDirectory() ? readdirSync(full, { recursive: true }).map((name) => join(path, name)) : [path];
    return files.filter((name) => /\.(ts|json)$/.test(name)).map(lineOf);
  });
  return `${sha256(lines.sort().join('\n'))}\n`;
}

function lineOf(path) {
  const { size, mtimeMs } = statSync(join(ROOT, path));
  return `${path} ${size} ${mtimeMs}`;
}

function stamp(file, text) {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  writeFileSync(file, text);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function sha256(data) {
  return createHash('sha256').update(data).digest('hex');
}

export function say(line) {
  console.error(line);
}

export function fail(line) {
  console.error(line);
  process.exit(1);
}
