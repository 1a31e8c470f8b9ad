import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const STEPS = 5000;
const LIMIT_MB = 300;

/** A part of the work, in a process of its own, so that its peak memory is what that part needs. */
async function peakMb(part: 'write' | 'read' | 'view' | 'export', folder: string): Promise<number> {
  const program = resolve('dist/test/long/large-session.js');
  const { stdout } = await run(process.execPath, [program, part, folder, String(STEPS)], { maxBuffer: 1 << 20 });
  const { rssMb, done } = JSON.parse(stdout);
  expect(done).toBe(STEPS * 3 + 1);
  return rssMb;
}

test(`a session of ${STEPS} steps with 100 MB of tool output is read, viewed and exported in under ${LIMIT_MB} MB`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-large-'));
  try {
    await peakMb('write', folder);
    for (const part of ['read', 'view', 'export'] as const) {
      const peak = await peakMb(part, folder);
      console.log(`${part}: ${Math.round(peak)} MB`);
      expect(peak).toBeLessThan(LIMIT_MB);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
