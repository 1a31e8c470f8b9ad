import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ANSWER, jsonLines, QUESTION, type Running, Workspace } from './workspace.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

describe('beside holdfast dev', () => {
  let workspace: Workspace;
  let dev: Running;
  beforeAll(async () => {
    workspace = new Workspace();
    writeFileSync(join(workspace.folder, 'holdfast.config.ts'), "export default { logLevel: 'warn' };\n");
    dev = workspace.start(['dev']);
    await dev.printed('Ctrl-C stops both');
  });
  afterAll(() => workspace.dispose());

  test('other commands use its worker, and --output json is one array that ends in done', async () => {
    const { code, out } = await workspace.run(['run', '--session', 'one', '--output', 'json', QUESTION]);
    const events = JSON.parse(out);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed', text: expect.stringMatching(ANSWER) });
    const open = new Set<string>();
    for (const event of events) {
      if (event.type === 'tool_start') open.add(event.callId);
      if (event.type === 'tool_end') expect(open.delete(event.callId)).toBe(true);
    }
    expect(open).toEqual(new Set());
    expect(code).toBe(0);
    expect(workspace.leftovers().filter((line) => line.includes('worker.js'))).toHaveLength(1);
  });

  test('send --follow goes on in the session, and ndjson indexes have no gap', async () => {
    const { code, out } = await workspace.run(['send', 'one', '--follow', '--output', 'ndjson', 'And the tests?']);
    expect(code).toBe(0);
    const indexes = jsonLines(out).flatMap(({ index }) => (index === null ? [] : [index]));
    expect(indexes.length).toBeGreaterThan(1);
    expect(indexes).toEqual(indexes.map((_, n) => n));
  });

  test('show and doctor tell what there is', async () => {
    const [session, doctor] = await Promise.all(
      [['show', 'one'], ['doctor']].map((args) => workspace.run([...args, '--output', 'json'])),
    );
    const { runs, entries } = JSON.parse(session?.out ?? '');
    expect(runs).toHaveLength(2);
    expect(entries[0].item).toMatchObject({ kind: 'user_message', content: [{ type: 'text', text: QUESTION }] });
    const findings: { verdict: string }[] = JSON.parse(doctor?.out ?? '');
    expect(findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(doctor?.code).toBe(0);
  });

  test('its log has nothing below the level of the config', () => {
    expect(readFileSync(join(workspace.folder, '.holdfast/logs/worker.log'), 'utf8')).not.toContain('"level":30');
  });

  test('Ctrl-C ends it in good order and leaves nothing running', async () => {
    dev.child.kill('SIGINT');
    expect((await dev.finished).code).toBe(0);
    expect(workspace.leftovers()).toEqual([]);
  });
});
