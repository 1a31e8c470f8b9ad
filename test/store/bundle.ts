import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes one JavaScript file of a TypeScript program, so that a plain `node` can run it as it stands in the sources
 * (not as it was at the last build). Packages stay outside. Returns the file's path, under `dist`.
 */
export async function bundled(program: string): Promise<string> {
  const name = basename(program, '.ts');
  const outDir = join(ROOT, 'dist', 'test-bundles', `${name}-${process.pid}`);
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    build: { ssr: program, outDir, emptyOutDir: true, minify: false, target: 'node20' },
  });
  return join(outDir, `${name}.js`);
}
