import { describe, expect, test } from 'vitest';
import { caseFolded, holdsAll, wordsOf } from '../../src/store/case-fold.ts';
import { likePattern } from '../../src/store/like-pattern.ts';
import type { Store } from '../../src/store/store.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { assistantItem, batchItem, Execution, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';

function said(text: string): AgentItem {
  return userItem('m', text);
}

async function seqs(store: Store, query: string, page: { limit?: number; beforeSeq?: number } = {}) {
  return (await store.searchTranscript('s', query, { limit: 50, ...page })).map(({ seq }) => seq);
}

describe('what the database is asked', () => {
  // The oracle is the definition: a character may stand in a pattern when no other character folds to it.
  test('no character of a pattern has a fold from outside its own two cases', () => {
    const foreign = new Set<string>();
    for (let code = 0x80; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      for (const char of caseFolded(String.fromCodePoint(code))) if (char < '\x80') foreign.add(char);
    }
    for (let code = 0x21; code < 0x7f; code += 1) {
      const char = String.fromCodePoint(code);
      if (likePattern(char) === undefined) continue;
      expect(foreign.has(caseFolded(char)), char).toBe(false);
      expect(JSON.stringify(char), char).toBe(`"${char}"`);
    }
    expect(likePattern('postgres')).toBe('%po%gre%');
    expect(likePattern('a_b')).toBe('%\\_b%');
    expect(likePattern('漢字')).toBeUndefined();
    expect(likePattern('%')).toBeUndefined();
  });

  test('words are what white space divides, folded, each once', () => {
    expect(wordsOf('  Tea\tTEA \u3000 "a b" ')).toEqual(['tea', '"a', 'b"']);
    expect(wordsOf(' ')).toEqual([]);
    expect(holdsAll(caseFolded('ΟΔΟΣ Straße'), wordsOf('οδος STRASSE'))).toBe(true);
    // A sigma that ends the word of a query may stand amid a word of the text.
    expect(holdsAll(caseFolded('ΟΔΟΣΑ'), wordsOf('οδος'))).toBe(true);
  });
});

describe.each(availableStores())('$kind: search', ({ make }) => {
  async function imported(...texts: readonly string[]) {
    const store = await make();
    await store.importSession({ sessionId: 's', runId: 'r', items: texts.map(said) });
    return store;
  }

  test.each([
    { query: 'tea', finds: [6, 1], why: 'case tells nothing apart' },
    { query: 'green tea', finds: [1], why: 'all words must be there' },
    { query: 'TEA gREEN', finds: [1], why: 'in any order' },
    { query: '100%', finds: [2], why: 'a percent sign is itself' },
    { query: 'a_b', finds: [3], why: 'so is an underscore' },
    { query: '"say', finds: [5], why: 'and a quote, which JSON escapes' },
    { query: 'C:\\dir', finds: [5], why: 'and a backslash' },
    { query: '京タ', finds: [7], why: 'there need be no space around what is looked for' },
    { query: '한글', finds: [7], why: 'composed or not' },
    { query: 'CAFÉ', finds: [8], why: 'composed or not' },
    { query: 'strasse', finds: [8], why: 'what folds to two letters is found by them' },
    { query: 'kelvin', finds: [8], why: 'and so is a letter that only folds to ASCII' },
    { query: 'line', finds: [9], why: 'lines divide words' },
    { query: 'linetwo', finds: [], why: 'and are none themselves' },
    { query: "it's", finds: [10], why: 'a statement is not made of what is looked for' },
    { query: '🙂', finds: [10], why: 'pairs of surrogates are characters' },
    { query: 'nowhere', finds: [], why: 'what is not there is not found' },
    { query: ' \n ', finds: [], why: 'no word finds nothing' },
  ])('"$query": $why', async ({ query, finds }) => {
    const store = await imported(
      'Green TEA please',
      'up 100% of it',
      'a_b c',
      'axb 100',
      'they "say" C:\\dir',
      'steam',
      '東京タワー \u1112\u1161\u11ab\u1100\u1173\u11af',
      'cafe\u0301 Straße \u212aelvin',
      'line\ntwo',
      "it's 🙂 '; drop table x",
    );
    expect(await seqs(store, query)).toEqual(finds);
  });

  test('newest come first, page by page, as many as are asked for', async () => {
    const store = await imported(...Array.from({ length: 450 }, (_, at) => (at % 3 === 0 ? `hit ${at}` : 'miss')));
    const all = await seqs(store, 'hit', { limit: 1_000 });
    expect(all).toEqual(Array.from({ length: 150 }, (_, at) => 448 - at * 3));
    expect(await seqs(store, 'hit', { limit: 2 })).toEqual([448, 445]);
    expect(await seqs(store, 'hit', { limit: 2, beforeSeq: 445 })).toEqual([442, 439]);
    expect(await seqs(store, 'hit', { limit: 0 })).toEqual([]);
    expect(await seqs(store, 'hit', { limit: 1, beforeSeq: 1e12 })).toEqual([448]);
    expect(await seqs(store, 'hit', { beforeSeq: 1 })).toEqual([]);
  });

  test('an excerpt is the text around the match, on one line of at most 300 characters', async () => {
    const store = await imported(
      `${'ß🙂 '.repeat(500)}the needle\n\n  is here ${'🙂 '.repeat(500)}`,
      'needle',
      `${'x'.repeat(290)} needle`,
    );
    const [last, short, long] = await store.searchTranscript('s', 'NEEDLE', { limit: 9 });
    expect(short).toEqual({ seq: 2, kind: 'user_message', excerpt: 'needle' });
    expect(long?.excerpt).toContain('the needle is here');
    expect(long?.excerpt).toMatch(/^….*…$/u);
    for (const hit of [last, long]) expect(hit?.excerpt.length).toBeLessThanOrEqual(300);
    expect(last?.excerpt).toMatch(/needle$/);
  });

  test('an excerpt never begins or ends inside a character', async () => {
    const store = await imported(
      ...[0, 1].map((more) => `${'🙂'.repeat(200)}${' '.repeat(more)}needle${'🙂'.repeat(200)}`),
    );
    for (const { excerpt } of await store.searchTranscript('s', 'needle', { limit: 9 })) {
      expect(excerpt).toMatch(/^…🙂+ ?needle🙂+…$/u);
    }
    const odd = await imported(
      `x${'y'.repeat(200)}needle${'🙂'.repeat(200)}`,
      `${'y'.repeat(200)}needle!${'🙂'.repeat(200)}`,
    );
    for (const { excerpt } of await odd.searchTranscript('s', 'needle', { limit: 9 })) {
      expect(excerpt).toMatch(/^…y+needle!?🙂+…$/u);
      expect(excerpt.length).toBeLessThanOrEqual(300);
    }
  });

  test('everything that was said or done is looked at, and of each result by itself', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    const response = { id: 'x', provider: 'p', model: 'm', api: 'offline' } as const;
    const base = { schemaVersion: 1, response } as const;
    const args = { path: 'src/Müller "x".ts', lines: [1, 22], deep: { flag: true, none: null } };
    await run.commit(0, [
      { kind: 'reasoning_summary', ...base, text: 'a thought' },
      {
        kind: 'builtin_tool_event',
        ...base,
        phase: 'call',
        nativeId: 'b',
        name: 'web_search',
        payload: { q: 'weather' },
      },
      { kind: 'assistant_message', ...base, content: [{ type: 'refusal', text: 'cannot' }] },
      {
        kind: 'tool_call_batch',
        ...base,
        calls: ['c1', 'c2'].map((callId) => ({ callId, nativeId: callId, name: 'read_file', arguments: args })),
      },
    ]);
    await run.endCall(0, 'c1', { text: 'alpha beta' });
    await run.endCall(0, 'c2', { text: 'beta gamma' });
    await run.begin(1);
    const hits = (query: string) => store.searchTranscript('s', query, { limit: 9 });
    expect(await seqs(store, 'thought')).toEqual([2]);
    expect(await seqs(store, 'WEB_search weather')).toEqual([3]);
    expect(await seqs(store, 'cannot')).toEqual([4]);
    for (const query of ['READ_FILE müller', '"x".ts', 'path 22 flag true null']) {
      expect(await hits(query)).toMatchObject([{ seq: 5, kind: 'tool_call_batch' }]);
    }
    expect(await hits('beta')).toMatchObject([
      { seq: 6, kind: 'tool_result_batch', callId: 'c1', excerpt: 'alpha beta' },
      { seq: 6, kind: 'tool_result_batch', callId: 'c2', excerpt: 'beta gamma' },
    ]);
    expect(await store.searchTranscript('s', 'beta', { limit: 1 })).toMatchObject([{ callId: 'c1' }]);
    expect(await hits('gamma beta')).toMatchObject([{ callId: 'c2' }]);
    expect(await hits('alpha gamma')).toEqual([]);
  });

  test('a whole output is searched in the place of what the model was shown, across the borders of its pieces', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [batchItem('short', 'long', 'plain')]);
    const long = `first ${'.'.repeat(65_536 - 6 - 4)}boRDer ${'.'.repeat(140_000)} last \0 end`;
    await run.endCall(0, 'short', { text: 'shown qqq', fullOutput: 'the "whole" 100% output' });
    await run.endCall(0, 'long', { text: 'shown qqq', fullOutput: long });
    await run.endCall(0, 'plain', { text: 'shown qqq' });
    await run.begin(1);
    const found = async (query: string) =>
      (await store.searchTranscript('s', query, { limit: 9 })).map(({ callId }) => callId);
    expect(await found('border')).toEqual(['long']);
    expect(await found('first last BORDER')).toEqual(['long']);
    expect(await found('"whole" 100% out')).toEqual(['short']);
    expect(await found('shown')).toEqual(['plain']);
    expect(await found('qqq')).toEqual(['plain']);
    expect(await found('whole border')).toEqual([]);
    const [hit] = await store.searchTranscript('s', 'border', { limit: 1 });
    expect(hit?.excerpt).toMatch(/^…\.+boRDer \.+…$/);
  });

  test('only the live items of the session are searched', async () => {
    const store = await imported('mine');
    await store.importSession({ sessionId: 't', runId: 't', items: [said('mine'), assistantItem('mine')] });
    expect(await seqs(store, 'mine')).toEqual([1]);
    expect(await store.searchTranscript('nowhere', 'mine', { limit: 9 })).toEqual([]);
  });
});
