import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wireName } from '../../src/transcript/wire-name.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

test('every name maps to one that all providers take, and mapping twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (name) => {
      const wire = wireName(name);
      expect(wire).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
      expect(wireName(wire)).toBe(wire);
    }),
    { numRuns: RUNS },
  );
});

test('long names that differ anywhere stay apart', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z]{70,120}$/),
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.stringMatching(/^[a-z]{1,8}$/),
      (start, a, b) => {
        fc.pre(a !== b);
        expect(wireName(start + a)).not.toBe(wireName(start + b));
      },
    ),
    { numRuns: RUNS },
  );
});

// Pins: these stand in histories of sessions, and a provider's cache is keyed by them.
test.each([
  ['read_file', 'read_file'],
  ['admin.tools.list', 'admin_tools_list'],
  ['mcp/server:read file', 'mcp_server_read_file'],
  ['wetter_für_köln', 'wetter_f_r_k_ln'],
  ['multi_tool_use.parallel', 'multi_tool_use_parallel'],
  ['7zip', '_7zip'],
  [
    'AzureMCP-AllTools-azmcp_virtualdesktop_hostpool_sessionhost_usersession-list',
    'AzureMCP-AllTools-azmcp_virtualdesktop_hostpool_session_35h583n2',
  ],
])('%s goes out as %s', (name, wire) => {
  expect(wireName(name)).toBe(wire);
});
