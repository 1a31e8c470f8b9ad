import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsIdentifier, type IdentifierKind, identifiersOf } from '../../src/compaction/identifiers.ts';

/** What people and tools write, with every exact name in it. */
const LABELLED: readonly { readonly text: string; readonly names: Readonly<Record<string, IdentifierKind>> }[] = [
  { text: 'The order number is 8841-K.', names: { '8841-K': 'id' } },
  { text: 'fact: code is 7731', names: { '7731': 'number' } },
  {
    text: 'Refund INV-4821, JIRA-77 and PROJ_12 (urgent).',
    names: { 'INV-4821': 'id', 'JIRA-77': 'id', PROJ_12: 'variable' },
  },
  { text: '订单8841-K已经取消，退款编号是INV-4821。', names: { '8841-K': 'id', 'INV-4821': 'id' } },
  {
    text: '请把/srv/app/config.yaml复制到~/backup/2026。',
    names: { '/srv/app/config.yaml': 'path', '~/backup/2026': 'path' },
  },
  { text: 'ファイルsrc/main.tsを編集して、ポート8080を開く', names: { 'src/main.ts': 'path', '8080': 'number' } },
  { text: '주문번호는 KR-20931입니다', names: { 'KR-20931': 'id' } },
  {
    text: 'See src/a.ts:42, `lib/b.py` and **docs/c.md**.',
    names: { 'src/a.ts': 'path', 'lib/b.py': 'path', 'docs/c.md': 'path' },
  },
  {
    text: 'Edit ./run.sh, ../x/y.go and C:\\Users\\me\\a.txt',
    names: { './run.sh': 'path', '../x/y.go': 'path', 'C:\\Users\\me\\a.txt': 'path' },
  },
  {
    text: 'open https://example.com/a/b?id=7&x=[1], then http://localhost:3000/.',
    names: { 'https://example.com/a/b?id=7&x=[1]': 'url', 'http://localhost:3000/': 'url' },
  },
  {
    text: '[docs](https://docs.test/guide(2)) (see https://x.test/y)',
    names: { 'https://docs.test/guide(2)': 'url', 'https://x.test/y': 'url' },
  },
  { text: '访问https://例え.test/路径，然后', names: {} },
  {
    text: 'id 3f2504e0-4f89-41d3-9a0c-0305e82c3301 at commit 9f8e7d6c5b',
    names: { '3f2504e0-4f89-41d3-9a0c-0305e82c3301': 'uuid', '9f8e7d6c5b': 'hash' },
  },
  {
    text: 'sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
    names: { 'sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9': 'hash' },
  },
  { text: 'use v2, 1.24.3 and 4.0.0-rc.1', names: { v2: 'version', '1.24.3': 'version', '4.0.0-rc.1': 'version' } },
  {
    text: 'It costs $1,299.00, or 12.5% less: 48213 in all, 3.14 on average',
    names: { '1,299.00': 'number', '12.5%': 'number', '48213': 'number', '3.14': 'number' },
  },
  { text: 'on 2026-12-01 at 14:30', names: { '2026-12-01': 'number', '14:30': 'number' } },
  {
    text: 'mail ops-team@example.co.uk; host db-1.internal:5432, 10.0.0.12 and 10.0.0.13:6379',
    names: {
      'ops-team@example.co.uk': 'email',
      'db-1.internal:5432': 'host',
      '10.0.0.12': 'host',
      '10.0.0.13:6379': 'host',
    },
  },
  { text: 'api.example.com answers on localhost:8080', names: { 'api.example.com': 'host', 'localhost:8080': 'host' } },
  {
    text: 'set DATABASE_URL=postgres://db.test/x and $HOME_DIR, run with --dry-run --max-old-space-size=4096',
    names: {
      DATABASE_URL: 'variable',
      'postgres://db.test/x': 'url',
      $HOME_DIR: 'variable',
      '--dry-run': 'flag',
      '--max-old-space-size=4096': 'flag',
    },
  },
  {
    text: '{"id":"INV-4821","n":48213,"path":"/var/log/x.log","nested":[1204,4821]}',
    names: { 'INV-4821': 'id', '48213': 'number', '/var/log/x.log': 'path', '1204,4821': 'number' },
  },
  {
    text: 'order_id=8841-K;retry_count=120',
    names: { order_id: 'name', '8841-K': 'id', retry_count: 'name', '120': 'number' },
  },
  {
    text: 'call buildView and view_revision in `TranscriptPolicy`',
    names: { buildView: 'name', view_revision: 'name', TranscriptPolicy: 'name' },
  },
  { text: '@acme/tools-core and package.json', names: { '@acme/tools-core': 'path', 'package.json': 'path' } },
  { text: 'fixes #1234 and PR #77', names: { '#1234': 'id', '#77': 'id' } },
  { text: 'line one\\nline /tmp/a.txt\\nline 99812', names: { '/tmp/a.txt': 'path', '99812': 'number' } },
  {
    text: 'the branch `feature/login-2` and the service `billing-worker`',
    names: { 'feature/login-2': 'path', 'billing-worker': 'name' },
  },
  { text: 'Das Ticket ÄND-4711 für Müller', names: { 'ÄND-4711': 'id' } },
  { text: 'заказ №55123 и файл отчет_2026.csv', names: { '55123': 'number' } },
  { text: 'i-0abc12def3 in us-east-1, sku77b', names: { 'i-0abc12def3': 'id', 'us-east-1': 'id', sku77b: 'id' } },
];

const PROSE: readonly string[] = [
  'The quick brown fox jumps over the lazy dog, and then it rests; nobody minds.',
  'We should read and/or write it, he/she said, e.g. on Monday, i.e. soon. It is well-known state-of-the-art work.',
  'First, the 1st of 10 steps took 5 minutes and 20 MB; the 2nd took 3x as long, 99% of it waiting.',
  'Es geht um die Übersicht, nicht um Einzelheiten. Danach machen wir weiter.',
  '今天我们需要把项目的数据库迁移到新的服务器上，并且检查所有的配置文件是否正确。',
  'Он сказал, что всё готово, и ушёл домой.',
  'Yes!! No?? Well... (perhaps) – "quoted words" and ‘others’ – 100 % no.',
];

describe('identifiersOf', () => {
  test.each(LABELLED.map((row) => [row.text, row.names] as const))('finds every name in %s', (text, names) => {
    const found = new Map(identifiersOf(text).map((one) => [one.text, one.kind]));
    for (const [name, kind] of Object.entries(names)) expect([name, found.get(name)]).toEqual([name, kind]);
  });

  test('finds no plain words in prose', () => {
    const found = PROSE.flatMap((text) => identifiersOf(text).map((one) => one.text));
    expect(found.filter((name) => name !== '100')).toEqual([]);
  });

  test('does not take citations of the transcript for names', () => {
    expect(identifiersOf('moved 8841-K [#1234], [#12-18] and [#7, #900]').map(({ text }) => text)).toEqual(['8841-K']);
  });

  test('says where each stands, once, in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...LABELLED.map(({ text }) => text)))),
        (parts) => {
          const text = parts.join(' ');
          const found = identifiersOf(text);
          expect(new Set(found.map((one) => one.text)).size).toBe(found.length);
          for (const one of found) expect(text.slice(one.start, one.end)).toBe(one.text);
          expect(found.map(({ start }) => start)).toEqual(found.map(({ start }) => start).toSorted((a, b) => a - b));
          for (const one of found) expect(holdsIdentifier(text, one.text)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    'a',
    '/',
    '-',
    '1.',
    'a:',
    '=a',
    '\\n',
    'http://',
    '`',
    '"',
    '[#1',
    '@a.',
    'aB',
    'a_',
    '1,',
    '#',
    '..',
    '中1',
  ])('gets to the end of a long text of %s', (unit) => {
    // Work that is not linear in the text would not get there within the time of a test.
    const found = identifiersOf(unit.repeat(400_000));
    expect(found.length).toBeLessThan(3);
  });
});

describe('holdsIdentifier', () => {
  test.each([
    ['is 4821.', '4821', true],
    ['is 148213', '4821', false],
    ['订单4821号', '4821', true],
    ['src/a.tsx', 'src/a.ts', false],
    ['x INV-4821-B', 'INV-4821', true],
    ['', '4821', false],
  ])('%s holds %s: %s', (text, name, holds) => {
    expect(holdsIdentifier(text, name)).toBe(holds);
  });
});
