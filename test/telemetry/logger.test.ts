import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createLogger, LOG_EVENTS } from '../../src/telemetry/logger.ts';
import { createRedactor } from '../../src/telemetry/redaction.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CANARY = 'canary/Key+with "quotes"=42';

test('a secret appears in no encoding, wherever it stands', () => {
  const redact = createRedactor([CANARY]);
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (before, after) => {
      const raw = before + CANARY + after;
      for (const encoded of [
        raw,
        JSON.stringify(raw),
        JSON.stringify(JSON.stringify(raw)),
        encodeURIComponent(CANARY),
      ]) {
        const safe = redact(encoded);
        expect(safe).not.toContain(CANARY);
        expect(safe).not.toContain('canary/Key');
        expect(safe).not.toContain('canary%2FKey');
      }
      const whole = Buffer.from(raw).toString('base64');
      expect(redact(whole).length).toBeLessThan(whole.length);
      expect(Buffer.from(redact(whole).replace('[redacted]', ''), 'base64').toString('latin1')).not.toContain(
        'canary/Key+with',
      );
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ['sk-proj-abcdefghijklmnop', 'sk-proj'],
  ['Authorization: Bearer abc.def-ghi_jkl', 'abc.def'],
  ['AKIAIOSFODNN7EXAMPLE', 'AKIAIO'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.c2ln', 'eyJhbG'],
  ['postgres://user:hunter2secret@db/x', 'hunter2'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----', 'MIIE'],
])('%j is known by its looks', (text, part) => {
  expect(createRedactor([])(text)).not.toContain(part);
});

test('ordinary text stays as it is', () => {
  const redact = createRedactor(['none', 'short']);
  for (const text of ['nonetheless short', 'task-sk-1', 'a basic example', 'http://localhost:8080/path'])
    expect(redact(text)).toBe(text);
});

test('lines are JSON with event, time and fields, and without secrets', () => {
  const file = path.join(folder, 'deep', 'worker.log');
  const log = createLogger({ destination: { file }, secrets: [CANARY] });
  log.info({ event: 'run.opened', note: CANARY, headers: { authorization: 'Zm9vOmJhcg' } }, 'opened');
  log.debug('not written');
  log.error(new Error(`failed with ${CANARY}`));
  const text = readFileSync(file, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    level: 30,
    event: 'run.opened',
    msg: 'opened',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(text).not.toMatch(/canary|Zm9vOmJhcg/);
});

// Pins: dashboards hold these names.
test('the names that operators know are kept', () => {
  expect(LOG_EVENTS.slice(0, 6)).toEqual([
    'session_runner.history_context_built',
    'provider.openai_compatible.serialized_protocol',
    'provider.openai_compatible.dropped_incomplete_tool_transcript',
    'provider.openai_compatible.dropped_orphan_tool_messages',
    'provider.openai_compatible.sanitized_tool_transcript',
    'agent_loop.terminal_without_tool_calls',
  ]);
});
