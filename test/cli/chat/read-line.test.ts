import { expect, test } from 'vitest';
import { type ChatLine, denial, HELP, readLine } from '../../../src/cli/chat/read-line.ts';

test.each<[string, ChatLine]>([
  ['', { kind: 'nothing' }],
  ['  \t', { kind: 'nothing' }],
  [' Where is it? ', { kind: 'message', text: 'Where is it?' }],
  ['a\n/cancel', { kind: 'message', text: 'a\n/cancel' }],
  ['//etc/hosts', { kind: 'message', text: '/etc/hosts' }],
  ['/cancel', { kind: 'cancel' }],
  ['/stop ', { kind: 'cancel' }],
  ['/compact', { kind: 'compact', instructions: undefined }],
  ['/compact keep the\nnames', { kind: 'compact', instructions: 'keep the\nnames' }],
  ['/approve', { kind: 'approve', call: undefined, session: false }],
  ['/approve session', { kind: 'approve', call: undefined, session: true }],
  ['/approve c1', { kind: 'approve', call: 'c1', session: false }],
  ['/approve  c1  session', { kind: 'approve', call: 'c1', session: true }],
  ['/deny', { kind: 'deny', words: '' }],
  ['/deny not  now', { kind: 'deny', words: 'not  now' }],
  ['/model', { kind: 'model', name: undefined }],
  ['/model openrouter/a/b', { kind: 'model', name: 'openrouter/a/b' }],
  ['/cost', { kind: 'cost' }],
  ['/help', { kind: 'help' }],
  ['/quit', { kind: 'leave' }],
])('%j', (line, read) => {
  expect(readLine(line)).toEqual(read);
});

test.each([
  ['/tmp/a is broken', /no command \/tmp\/a\. .*\/\/tmp\/a sends it/],
  ['/constructor', /no command/],
  ['/', /no command/],
  ['/cancel now', /takes nothing/],
  ['/approve c1 now', /Write \/approve/],
  ['/model small', /provider\/name/],
  ['/model a/b c', /provider\/name/],
])('%j is not understood', (line, why) => {
  expect(readLine(line)).toEqual({ kind: 'wrong', why: expect.stringMatching(why) });
});

test.each([
  ['', {}],
  ['too risky', { note: 'too risky' }],
  ['call_1 too  risky', { call: 'call_1', note: 'too  risky' }],
  ['call_1', { call: 'call_1' }],
  ['call_2 twice', { note: 'call_2 twice' }],
  // A word is no call because the id of one begins with it by chance.
  ['cal me', { note: 'cal me' }],
])('of /deny %j it is told what is a call and what a note', (words, expected) => {
  expect(denial(words, ['call_11', 'call_12'])).toEqual(expected);
});

test('help tells every command', () => {
  for (const name of ['cancel', 'stop', 'approve', 'deny', 'compact', 'model', 'cost', 'quit']) {
    expect(HELP).toContain(`/${name}`);
  }
});
