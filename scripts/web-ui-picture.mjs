// Takes a picture of a page of the Temporal Web UI: node scripts/web-ui-picture.mjs URL FILE.png
// Needs Chromium (Debian: apt-get install chromium) and a running dev server (npx holdfast dev).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, file] = process.argv.slice(2);
if (url === undefined || file === undefined) {
  process.stderr.write('usage: node scripts/web-ui-picture.mjs URL FILE.png\n');
  process.exit(2);
}
const profile = mkdtempSync(join(tmpdir(), 'holdfast-picture-'));
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [...flags, '--disable-component-update', '--disable-sync'],
  viewport: { width: 1500, height: 1250 },
});
try {
  const page = await browser.newPage();
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.waitForTimeout(2500);
  await page.screenshot({ path: file });
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
