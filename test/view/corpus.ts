import { readFileSync } from 'node:fs';

/** Text of each class that no weight was fitted on: prose written for this purpose, the rest made from a seed. */
export type CorpusClass = (typeof CORPUS_CLASSES)[number];

export const CORPUS_CLASSES = [
  'english',
  'chinese',
  'japanese',
  'korean',
  'russian',
  'code',
  'json',
  'base64',
  'logs',
  'diffs',
] as const;

/** Characters of a window. */
export const WINDOW = 2000;

/** Windows of a class: of prose and code overlapping ones (there is less of it), of generated text separate ones. */
export function windowsOf(cls: CorpusClass): readonly string[] {
  const text = TEXTS[cls]();
  const stride = text.length > WINDOW * 12 ? WINDOW : 250;
  const windows: string[] = [];
  for (let at = 0; at + WINDOW <= text.length; at += stride) windows.push(text.slice(at, at + WINDOW));
  return windows;
}

const TEXTS: Readonly<Record<CorpusClass, () => string>> = {
  english: () => fixture('english.txt'),
  chinese: () => fixture('chinese.txt'),
  japanese: () => fixture('japanese.txt'),
  korean: () => fixture('korean.txt'),
  russian: () => fixture('russian.txt'),
  code: () => fixture('code.txt'),
  json: () => jsonText(random(11)),
  base64: () => base64Text(random(12)),
  logs: () => logText(random(13)),
  diffs: () => diffText(random(14)),
};

function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/corpus/${name}`, import.meta.url), 'utf8');
}

type Random = () => number;

/** Mulberry32: the same text on every machine. */
function random(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function pick<T>(rnd: Random, from: readonly T[]): T {
  return from[Math.floor(rnd() * from.length)] as T;
}

const NOUNS = (
  'invoice warehouse sensor tenant basket vehicle ticket mailbox pipeline shard replica schedule payment folder camera ' +
  'passport booking garden meter turbine lesson recipe contract parcel bridge signal station harvest printer wallet'
).split(' ');
const VERBS = 'opened rejected moved scanned merged delayed published archived throttled renewed paused restored'.split(
  ' ',
);

function word(rnd: Random): string {
  return pick(rnd, NOUNS);
}

function digits(rnd: Random, count: number): string {
  return Array.from({ length: count }, () => Math.floor(rnd() * 10)).join('');
}

function hex(rnd: Random, count: number): string {
  return Array.from({ length: count }, () => Math.floor(rnd() * 16).toString(16)).join('');
}

function stamp(rnd: Random): string {
  const two = (limit: number, from = 0) => String(from + Math.floor(rnd() * limit)).padStart(2, '0');
  return `20${two(9, 19)}-${two(12, 1)}-${two(28, 1)}T${two(24)}:${two(60)}:${two(60)}.${digits(rnd, 3)}Z`;
}

function sentence(rnd: Random): string {
  return `The ${word(rnd)} was ${pick(rnd, VERBS)} by the ${word(rnd)} after ${Math.floor(rnd() * 90)} minutes`;
}

function jsonValue(rnd: Random, depth: number): unknown {
  const roll = rnd();
  if (depth > 0 && roll < 0.25) return jsonObject(rnd, depth - 1);
  if (depth > 0 && roll < 0.35) return Array.from({ length: 4 }, () => jsonValue(rnd, 0));
  if (roll < 0.5) return sentence(rnd);
  if (roll < 0.6) return Number(digits(rnd, 5));
  if (roll < 0.7) return Math.round(rnd() * 1e6) / 1e4;
  if (roll < 0.78) return stamp(rnd);
  if (roll < 0.86) return `${hex(rnd, 8)}-${hex(rnd, 4)}-${hex(rnd, 4)}-${hex(rnd, 4)}-${hex(rnd, 12)}`;
  if (roll < 0.93) return `https://${word(rnd)}.example.org/${word(rnd)}/${digits(rnd, 4)}?page=${digits(rnd, 1)}`;
  return rnd() < 0.5;
}

function jsonObject(rnd: Random, depth: number): Record<string, unknown> {
  const key = () =>
    rnd() < 0.5 ? `${word(rnd)}_${word(rnd)}` : `${word(rnd)}${word(rnd).replace(/^./, (c) => c.toUpperCase())}`;
  return Object.fromEntries(Array.from({ length: 5 }, () => [key(), jsonValue(rnd, depth)]));
}

function jsonText(rnd: Random): string {
  const some = () => Array.from({ length: 60 }, () => jsonObject(rnd, 2));
  return `${JSON.stringify(some())}\n${JSON.stringify(some(), null, 2)}\n`;
}

function base64Text(rnd: Random): string {
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => Math.floor(rnd() * 256)));
  const lines = bytes(12_000)
    .toString('base64')
    .replace(/(.{76})/g, '$1\n');
  return `${bytes(12_000).toString('base64')}\n${lines}\n${bytes(6000).toString('base64url')}`;
}

function logText(rnd: Random): string {
  const address = () => [10, ...Array.from({ length: 3 }, () => Math.floor(rnd() * 256))].join('.');
  const level = () => pick(rnd, ['DEBUG', 'INFO', 'WARN', 'ERROR']);
  const lines: readonly (() => string)[] = [
    () => `${stamp(rnd)} ${level()} ${word(rnd)}-service ${sentence(rnd)} id=${hex(rnd, 12)} took=${digits(rnd, 3)}ms`,
    () =>
      `${address()} - ${word(rnd)} [07/Jun/2025:0${digits(rnd, 1)}:12:55 +0200] "POST /api/${word(rnd)}/${digits(rnd, 6)} HTTP/2" 204 ${digits(rnd, 4)}`,
    () =>
      `{"ts":${digits(rnd, 13)},"lvl":"${level().toLowerCase()}","mod":"${word(rnd)}","msg":"${sentence(rnd)}","trace":"${hex(rnd, 32)}"}`,
    () =>
      `Jun  7 0${digits(rnd, 1)}:41:09 host-${digits(rnd, 2)} ${word(rnd)}d[${digits(rnd, 5)}]: ${word(rnd)} ${pick(rnd, VERBS)} from ${address()}:${digits(rnd, 5)}`,
    () => `\tat org.example.${word(rnd)}.${word(rnd)}.Worker.run(Worker.java:${digits(rnd, 3)})`,
    () =>
      `[${digits(rnd, 6)}.${digits(rnd, 6)}] usb 3-${digits(rnd, 1)}: ${word(rnd)} ${pick(rnd, VERBS)}, status 0x${hex(rnd, 4)}`,
  ];
  const blocks = lines.map((line) => Array.from({ length: 60 }, line).join('\n'));
  return [...blocks, Array.from({ length: 200 }, () => pick(rnd, lines)()).join('\n')].join('\n');
}

/** Unified diffs over the lines of the code fixture, some of them changed by a word. */
function diffText(rnd: Random): string {
  const lines = fixture('code.txt').split('\n');
  const hunks = Array.from({ length: 40 }, () => {
    const from = Math.floor(rnd() * Math.max(1, lines.length - 16));
    const body = lines.slice(from, from + 16).flatMap((line) => {
      const roll = rnd();
      if (roll < 0.2) return [`-${line}`, `+${line.replace(/\b[a-z]{4,}\b/, word(rnd))}`];
      if (roll < 0.3) return [`+${line}`];
      return [roll < 0.38 ? `-${line}` : ` ${line}`];
    });
    const path = `lib/${word(rnd)}/${word(rnd)}.ts`;
    const head = `diff --git a/${path} b/${path}\nindex ${hex(rnd, 7)}..${hex(rnd, 7)} 100644\n--- a/${path}\n+++ b/${path}`;
    return `${rnd() < 0.5 ? `${head}\n` : ''}@@ -${from + 1},16 +${from + 1},17 @@\n${body.join('\n')}`;
  });
  return hunks.join('\n');
}
