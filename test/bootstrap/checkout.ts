import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const BIN = join(import.meta.dirname, '../../bin');

/** What each stand-in does besides writing its name to the log. */
const TSC = `
  import { mkdirSync, appendFileSync, writeFileSync } from 'node:fs';
  appendFileSync(process.env.LOG, 'compile\\n');
  if (process.env.TSC_FAILS) process.exit(2);
  mkdirSync('dist/src/cli', { recursive: true });
  writeFileSync('dist/src/cli/main.js', \`
    import { text } from 'node:stream/consumers';
    console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), input: await text(process.stdin) }));
    process.exitCode = 7;
  \`);`;
const BUNDLER = `
  import { appendFileSync } from 'node:fs';
  export class DefaultLogger {}
  export async function bundleWorkflowCode() {
    appendFileSync(process.env.LOG, 'bundle\\n');
    return { code: '/* bundle */' };
  }`;
const NPM = `
  const { appendFileSync, cpSync, rmSync } = require('node:fs');
  appendFileSync(process.env.LOG, 'install ' + process.argv.slice(2).join(' ') + '\\n');
  rmSync('node_modules', { recursive: true, force: true });
  cpSync(process.env.PACKAGES, 'node_modules', { recursive: true });`;

/** A made-up checkout with our real bootstrap, whose npm, compiler and bundler only note that they were called. */
export class Checkout {
  readonly root: string = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-boot-')));
  readonly #log = join(this.root, '..', `${this.root.split('/').at(-1)}.log`);
  readonly #packages = join(this.root, 'registry');

  constructor() {
    cpSync(BIN, join(this.root, 'bin'), { recursive: true });
    this.write('package.json', '{"name":"holdfast","type":"module","engines":{"node":">=20.19"}}');
    this.lock('1.0.0');
    this.write('tsconfig.main.json', '{}');
    this.write('worker.ts', '');
    this.write('src/cli/main.ts', '');
    this.write('src/workflows/index.ts', '');
    this.write('registry/typescript/package.json', '{"type":"module","bin":{"tsc":"tsc.js"}}');
    this.write('registry/typescript/tsc.js', TSC);
    this.write('registry/@temporalio/worker/package.json', '{"type":"module","exports":"./index.js"}');
    this.write('registry/@temporalio/worker/index.js', BUNDLER);
    this.write('registry/npm-cli.cjs', NPM);
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  remove(path: string): void {
    rmSync(join(this.root, path));
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  /** A lock file that wants one package in this version. */
  lock(version: string): void {
    this.write('package-lock.json', JSON.stringify({ packages: { '': {}, 'node_modules/typescript': { version } } }));
  }

  /** As after `npm ci` by hand, of the package in this version. */
  installByHand(version: string): void {
    cpSync(this.#packages, join(this.root, 'node_modules'), { recursive: true });
    this.write(
      'node_modules/.package-lock.json',
      JSON.stringify({ packages: { 'node_modules/typescript': { version } } }),
    );
  }

  /** Starts as `npm start -- …` does; `done` are the steps that this start did. */
  async start(over: { args?: string[]; env?: Record<string, string>; input?: string; program?: string } = {}) {
    const env = {
      ...process.env,
      INIT_CWD: this.root,
      npm_execpath: join(this.#packages, 'npm-cli.cjs'),
      LOG: this.#log,
      PACKAGES: this.#packages,
      ...over.env,
    };
    const child = spawn(process.execPath, [join(this.root, 'bin', over.program ?? 'start.mjs'), ...(over.args ?? [])], {
      cwd: this.root,
      env,
    });
    child.stdin.end(over.input ?? '');
    let out = '';
    let err = '';
    child.stdout.on('data', (data: Buffer) => {
      out += data;
    });
    child.stderr.on('data', (data: Buffer) => {
      err += data;
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, out, err };
  }

  /** What was done since the last time of asking. */
  done(): readonly string[] {
    const lines = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n') : [];
    rmSync(this.#log, { force: true });
    return lines.filter((line) => line !== '').map((line) => line.split(' ')[0] ?? '');
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
    rmSync(this.#log, { force: true });
  }
}
