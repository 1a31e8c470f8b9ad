import { describe, expect, test } from 'vitest';
import { factId } from '../../src/store/fact-id.ts';
import type { FactKind, FactScope, NewFact } from '../../src/store/facts-port.ts';
import { Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

function fact(text: string, more: Partial<NewFact> & { sessionId?: string } = {}): NewFact {
  const { sessionId = 's', scope = 'session', kind = 'memory', ...rest } = more;
  const id = factId({ scope, sessionId, kind, text });
  const base = { factId: id, scope, kind, text, status: 'active', sourceSeq: 1, source: { origin: 'user' } } as const;
  return { ...base, ...rest };
}

const FROM_TOOL = { status: 'quarantined', source: { origin: 'tool', callId: 'c1' } } as const;

describe('the id of a fact', () => {
  const id = (text: string, kind: FactKind = 'memory', scope: FactScope = 'session', sessionId = 's') =>
    factId({ scope, sessionId, kind, text });

  test('is the same for texts that say the same', () => {
    expect(id('I like tea')).toMatch(/^[0-9a-f]{32}$/);
    for (const text of ['  I like\n\ttea ', 'i LIKE tea', 'I like tea.', 'I like tea!'])
      expect(id(text)).toBe(id('I like tea'));
    expect(id('Caf\u00e9')).toBe(id('cafe\u0301'));
    expect(id('Caf\u00e9', 'file')).toBe(id('Cafe\u0301', 'file'));
    expect(id('Straße')).toBe(id('STRASSE'));
  });

  test('tells kinds, scopes and sessions apart, and names by their case', () => {
    expect(id('a/B.ts', 'file')).not.toBe(id('a/b.ts', 'file'));
    expect(id('v1.', 'identifier')).not.toBe(id('v1', 'identifier'));
    expect(id('a', 'file')).not.toBe(id('a', 'command'));
    expect(id('a')).not.toBe(id('a', 'memory', 'workspace'));
    expect(id('a', 'memory', 'session', 's')).not.toBe(id('a', 'memory', 'session', 't'));
    expect(id('a', 'memory', 'workspace', 's')).toBe(id('a', 'memory', 'workspace', 't'));
  });
});

describe.each(availableStores())('$kind: facts', ({ make }) => {
  async function opened(...sessions: readonly string[]) {
    let now = 1_000;
    const store = await make({ now: () => now++ });
    for (const sessionId of ['s', ...sessions]) await new Execution(store, { sessionId, runId: sessionId }).open('m1');
    return store;
  }

  test('the same fact is kept once, as it was first said', async () => {
    const store = await opened();
    const [first] = await store.putFacts('s', [fact('I like tea')]);
    expect(first).toMatchObject({ sessionId: 's', text: 'I like tea', status: 'active', sourceSeq: 1 });
    const more = [fact('i like tea.', { sourceSeq: 9 }), fact('new'), fact('NEW'), fact('I LIKE TEA')];
    const again = await store.putFacts('s', more);
    expect(again).toEqual([first, expect.objectContaining({ text: 'new' })]);
    expect((await store.facts({ sessionId: 's' })).map(({ text }) => text)).toEqual(['new', 'I like tea']);
  });

  test('writers that put the same facts of the workspace at once leave each of them once', async () => {
    const store = await opened();
    const facts = Array.from({ length: 450 }, (_, at) => fact(`fact ${at}`, { scope: 'workspace' }));
    const told = await Promise.all([
      store.putFacts('s', facts),
      store.putFacts('s', facts.toReversed()),
      store.putFacts('s', facts),
    ]);
    expect(told.map((rows) => rows.length)).toEqual([450, 450, 450]);
    expect(await store.facts({})).toHaveLength(450);
  });

  test.each([
    { by: 'a person', source: { origin: 'user' }, frees: true },
    { by: 'a rule', source: { origin: 'rule', rule: 'pinned' }, frees: true },
    { by: 'nobody in particular', source: {}, frees: true },
    { by: 'the model', source: { origin: 'assistant' }, frees: false },
    { by: 'a tool', source: { origin: 'tool' }, frees: false },
  ])('a quarantined fact that is said again by $by: freed=$frees', async ({ source, frees }) => {
    const store = await opened();
    await store.putFacts('s', [fact('run x', FROM_TOOL)]);
    const [row] = await store.putFacts('s', [fact('run x', { source, sourceSeq: 7 })]);
    expect(row).toMatchObject(
      frees
        ? { status: 'active', source, sourceSeq: 7 }
        : { status: 'quarantined', source: FROM_TOOL.source, sourceSeq: 1 },
    );
    await store.putFacts('s', [fact('run x', FROM_TOOL)]);
    expect(await store.facts({ sessionId: 's' })).toEqual([row]);
  });

  test('of several sources in one go the one that is trusted counts', async () => {
    const store = await opened();
    const rows = await store.putFacts('s', [fact('run x', FROM_TOOL), fact('run x')]);
    expect(rows).toMatchObject([{ status: 'active' }]);
  });

  test('a forgotten fact stays forgotten, whoever says it again', async () => {
    const store = await opened();
    const [row] = await store.putFacts('s', [fact('run x')]);
    await store.setFactStatus(row?.factId ?? '', 'forgotten');
    expect(await store.putFacts('s', [fact('run x')])).toMatchObject([{ status: 'forgotten' }]);
  });

  test('a query sees its session and the workspace, or what it names', async () => {
    const store = await opened('t');
    await store.putFacts('s', [fact('of s'), fact('of all', { scope: 'workspace', kind: 'url' })]);
    await store.putFacts('t', [fact('of t', { sessionId: 't', status: 'quarantined', kind: 'file' })]);
    const texts = async (query: Parameters<typeof store.facts>[0]) =>
      (await store.facts(query)).map(({ text }) => text).sort();
    expect(await texts({ sessionId: 's' })).toEqual(['of all', 'of s']);
    expect(await texts({ sessionId: 's', scope: 'session' })).toEqual(['of s']);
    expect(await texts({ sessionId: 's', scope: 'workspace' })).toEqual(['of all']);
    expect(await texts({})).toEqual(['of all']);
    expect(await texts({ scope: 'session' })).toEqual(['of s', 'of t']);
    expect(await texts({ scope: 'session', statuses: ['quarantined'] })).toEqual(['of t']);
    expect(await texts({ sessionId: 's', kinds: ['url', 'file'] })).toEqual(['of all']);
    expect(await texts({ sessionId: 's', kinds: [] })).toEqual([]);
    expect(await texts({ sessionId: 's', statuses: [] })).toEqual([]);
    expect((await store.facts({}))[0]).toMatchObject({ sessionId: 's', scope: 'workspace' });
  });

  test('newest come first, by their time and then by their place', async () => {
    const store = await opened();
    await store.putFacts('s', [fact('old')]);
    await store.putFacts(
      's',
      [3, 1, 2].map((sourceSeq) => fact(`at ${sourceSeq}`, { sourceSeq })),
    );
    await store.putFacts('s', [fact('of nowhere', { sourceSeq: null })]);
    const texts = (await store.facts({ sessionId: 's' })).map(({ text }) => text);
    expect(texts).toEqual(['of nowhere', 'at 3', 'at 2', 'at 1', 'old']);
    expect((await store.facts({ sessionId: 's', limit: 2 })).map(({ text }) => text)).toEqual(texts.slice(0, 2));
  });

  test('words are found in any order and case, all of them, and the limit counts what was found', async () => {
    const store = await opened();
    const texts = ['Grüße an Łukasz', '100% of it', 'under_score', 'underXscore', '東京タワー', '"quoted"'];
    await store.putFacts(
      's',
      texts.map((text, at) => fact(text, { sourceSeq: at })),
    );
    const found = async (words: string, limit = 10) =>
      (await store.facts({ sessionId: 's', words, limit })).map(({ text }) => text);
    expect(await found('łUKASZ GRÜSSE')).toEqual([texts[0]]);
    expect(await found('0%')).toEqual([texts[1]]);
    expect(await found('under_score')).toEqual([texts[2]]);
    expect(await found('under', 1)).toEqual([texts[3]]);
    expect(await found('京タ')).toEqual([texts[4]]);
    expect(await found('"quoted"')).toEqual([texts[5]]);
    expect(await found('quoted nothing')).toEqual([]);
  });

  test('a status is set by the whole id or a unique beginning of it', async () => {
    const store = await opened();
    const made = (id: string) => fact(id, { factId: id });
    await store.putFacts('s', [made('abcd1'), made('abcd2'), made('abcd'), made('xy_z'), made('xyaz')]);
    expect(await store.setFactStatus('abcd2', 'forgotten')).toMatchObject({ factId: 'abcd2', status: 'forgotten' });
    expect(await store.setFactStatus('abcd', 'quarantined')).toMatchObject({ factId: 'abcd', status: 'quarantined' });
    expect(await store.setFactStatus('xy_z', 'active')).toMatchObject({ factId: 'xy_z' });
    expect(await store.setFactStatus('xya', 'active')).toBeUndefined();
    expect(await store.setFactStatus('xyaz5', 'active')).toBeUndefined();
    expect(await store.setFactStatus('abc%', 'active')).toBeUndefined();
    await store.putFacts('s', [made('long-one'), made('long-two')]);
    await expect(store.setFactStatus('long', 'active')).rejects.toMatchObject({
      name: 'StoreError',
      code: 'InvalidInput',
      message: 'Several facts have ids that begin with long.',
    });
    const row = await store.setFactStatus('long-o', 'forgotten');
    expect(row?.factId).toBe('long-one');
    expect(row?.updatedAt).not.toBe(row?.createdAt);
    expect((await store.facts({ sessionId: 's', statuses: ['forgotten'] })).map((each) => each.factId).sort()).toEqual([
      'abcd2',
      'long-one',
    ]);
  });

  test('a fact of a session needs one; the workspace can learn without', async () => {
    const store = await opened();
    await expect(store.putFacts('nowhere', [fact('x')])).rejects.toMatchObject({ code: 'NotFound' });
    const [row] = await store.putFacts('nowhere', [fact('x', { scope: 'workspace' })]);
    expect(row).toMatchObject({ sessionId: null, scope: 'workspace' });
    expect(await store.putFacts('nowhere', [])).toEqual([]);
  });

  test('a text that no database holds is made one', async () => {
    const store = await opened();
    const [row] = await store.putFacts('s', [fact('a\0b\ud800')]);
    expect(row?.text).toBe('a\ufffdb\ufffd');
  });
});
