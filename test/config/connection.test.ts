import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connectionFromEnvironment } from '../../src/config/connection.ts';
import { HoldfastError } from '../../src/contract/errors.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-connection-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, 'temporal.toml');
writeFileSync(
  file,
  `[profile.default]
   namespace = "from-file"
   [profile.cloud]
   address = "x.tmprl.cloud:7233"
   namespace = "n.acct"
   api_key = "key"
   [profile.mtls]
   address = "m:7233"
   [profile.mtls.tls]
   client_cert_data = "CERT"
   client_key_data = "KEY"
   server_name = "m.example"
   [profile.nocert]
   address = "m:7233"
   [profile.nocert.tls]
   client_cert_path = "${path.join(folder, 'missing.pem')}"
   client_key_path = "${path.join(folder, 'missing.key')}"`,
);
const none = { HOME: folder, TEMPORAL_CONFIG_FILE: path.join(folder, 'absent.toml') };

test.each([
  ['nothing', none],
  ['a namespace alone', { ...none, TEMPORAL_NAMESPACE: 'n' }],
  ['empty variables', { ...none, TEMPORAL_ADDRESS: '', TEMPORAL_PROFILE: '' }],
  ['a file whose default profile has no address', { ...none, TEMPORAL_CONFIG_FILE: file }],
])('%s names no server', async (_, env) => {
  expect(await connectionFromEnvironment(env)).toBeUndefined();
});

test('TEMPORAL_ADDRESS names one', async () => {
  expect(await connectionFromEnvironment({ ...none, TEMPORAL_ADDRESS: 'h:1', TEMPORAL_NAMESPACE: 'n' })).toEqual({
    address: 'h:1',
    namespace: 'n',
    connection: { address: 'h:1' },
  });
  expect(await connectionFromEnvironment({ ...none, TEMPORAL_ADDRESS: 'h:1' })).toMatchObject({ namespace: 'default' });
});

test('a profile names one, with key and TLS, and variables win over it', async () => {
  const env = { ...none, TEMPORAL_CONFIG_FILE: file };
  expect(await connectionFromEnvironment({ ...env, TEMPORAL_PROFILE: 'cloud' })).toEqual({
    address: 'x.tmprl.cloud:7233',
    namespace: 'n.acct',
    connection: { address: 'x.tmprl.cloud:7233', apiKey: 'key', tls: true },
  });
  expect(
    await connectionFromEnvironment({ ...env, TEMPORAL_PROFILE: 'mtls', TEMPORAL_ADDRESS: 'other:1' }),
  ).toMatchObject({
    address: 'other:1',
    connection: {
      tls: {
        serverNameOverride: 'm.example',
        clientCertPair: { crt: new Uint8Array(Buffer.from('CERT')), key: new Uint8Array(Buffer.from('KEY')) },
      },
    },
  });
});

test.each([
  ['a profile that does not exist', { TEMPORAL_PROFILE: 'nope' }, /nope/],
  ['a certificate that cannot be read', { TEMPORAL_PROFILE: 'nocert' }, /missing\.(pem|key)/],
])('%s is a clear error', async (_, env, message) => {
  const error = await connectionFromEnvironment({ ...none, TEMPORAL_CONFIG_FILE: file, ...env }).catch(
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: 'ConfigInvalid', message: expect.stringMatching(message) });
});
