import { factId } from '../store/fact-id.ts';
import type { FactKind, FactStatus, NewFact } from '../store/facts-port.ts';
import { calledTools } from '../transcript/called-tools.ts';
import type { JsonObject } from '../transcript/json.ts';
import { isObserved, type ViewPart } from '../transcript/view.ts';
import { headOf } from '../transcript/well-formed.ts';
import { identifiersOf } from './identifiers.ts';
import { oneLine, spokenText, storedItem, textOf } from './item-text.ts';
import { type EntryKind, type FileEffect, ledgerOf } from './ledger.ts';

export interface FactsInput {
  /** What will be dropped from the view. */
  readonly parts: readonly ViewPart[];
  readonly sessionId: string;
  readonly compactionId: string;
  readonly effects?: (tool: string) => FileEffect | undefined;
}

/** Longest memory, in characters: a sentence, not a document. */
const MAX_MEMORY = 300;

/** Memories of tool output that one compaction keeps for somebody to look at. */
const MAX_QUARANTINED = 20;

/** Names that one compaction adds; more of them are found in the transcript itself. */
const MAX_IDENTIFIERS = 1000;

/** How people ask to have something kept, and say what they always or never want. */
const PATTERNS: readonly { readonly says: 'remember' | 'preference' | 'constraint'; readonly pattern: RegExp }[] = [
  {
    says: 'remember',
    pattern: /\b(?:please )?(?:remember|keep in mind|don['’]t forget|note that|for (?:future|later) reference)\b/i,
  },
  { says: 'remember', pattern: /(?:请?记住|请?记得|别忘了?|不要忘记|牢记)/ },
  {
    says: 'preference',
    pattern:
      /\b(?:I (?:always |usually |strongly )?(?:prefer|like|want|dislike|hate)|my (?:preferred|favou?rite)|call me|my name is|I am called)\b/i,
  },
  { says: 'preference', pattern: /(?:我(?:更|比较)?(?:喜欢|偏好|希望|想要|习惯|讨厌)|我叫|叫我|我的名字(?:是|叫))/ },
  {
    says: 'constraint',
    pattern:
      /\b(?:always|never|must(?:n['’]t| not)?|do not|don['’]t|only use|make sure|at most|at least|no more than|under no circumstances|from now on)\b/i,
  },
  {
    says: 'constraint',
    pattern:
      /(?:必须|务必|不得|不要|不许|禁止|绝不|永远不|始终|总是|一律|只(?:能|用|使用)|最多|至少|不超过|从现在起|以后(?:都|请))/,
  },
];

/** A sentence in which a person asked for something to be kept. */
export interface Said {
  readonly text: string;
  readonly seq: number | null;
  readonly says: 'remember' | 'preference' | 'constraint';
}

/** What a person said in an item that outlasts the turn: explicit requests, preferences, constraints. Empty for other items. */
export function saidByUser(part: ViewPart): readonly Said[] {
  const item = storedItem(part);
  if (item.kind !== 'user_message' || item.origin === 'control' || isObserved(item)) return [];
  return durable(spokenText(item)).map((said) => ({ ...said, seq: part.seq }));
}

/**
 * Durable facts out of items that a compaction drops. What a person said is active; the same words in tool output are
 * quarantined, as anybody may have written them there. Names, files, commands and URLs are active: they serve search and
 * never enter a prompt as memory. Each fact once; what a person said counts before what a tool did.
 */
export function factsOf(input: FactsInput): readonly NewFact[] {
  const { parts } = input;
  const facts = new Map<string, NewFact>();
  // What a person said comes first, and the first of a kind counts.
  const add = (fact: NewFact): void => {
    if (!facts.has(fact.factId)) facts.set(fact.factId, fact);
  };
  for (const fact of memories(input)) add(fact);
  for (const entry of ledgerOf(parts, input.effects === undefined ? {} : { effects: input.effects })) {
    const source = { origin: 'assistant', tool: entry.tool ?? '', callId: entry.callId ?? '', use: entry.kind };
    add(
      factFrom(input, { kind: FACT_OF_ENTRY[entry.kind], text: entry.text, seq: entry.seq, source, status: 'active' }),
    );
  }
  for (const fact of boundedIdentifiers(input)) add(fact);
  return [...facts.values()];
}

const FACT_OF_ENTRY: Readonly<Record<EntryKind, FactKind>> = {
  changed: 'file',
  read: 'file',
  command: 'command',
  url: 'url',
};

function memories(input: FactsInput): readonly NewFact[] {
  const names = calledTools(input.parts.map(({ item }) => item));
  const facts: NewFact[] = [];
  for (const part of input.parts) {
    for (const { text, says } of saidByUser(part)) {
      facts.push(
        factFrom(input, { kind: 'memory', text, seq: part.seq, source: { origin: 'user', says }, status: 'active' }),
      );
    }
  }
  const fromTools = input.parts.flatMap((part) => {
    const item = storedItem(part);
    if (item.kind !== 'tool_result_batch') return [];
    return item.results.flatMap(({ callId, content }) => {
      // Only what asks to be remembered: rules and wishes are in every document.
      return durable(textOf(content))
        .filter(({ says }) => says === 'remember')
        .map((said) => ({ ...said, seq: part.seq, callId, tool: names.get(callId) ?? '' }));
    });
  });
  for (const { text, seq, callId, tool } of fromTools.slice(0, MAX_QUARANTINED)) {
    const source = { origin: 'tool', tool, callId, says: 'remember' };
    facts.push(factFrom(input, { kind: 'memory', text, seq, source, status: 'quarantined' }));
  }
  return facts;
}

/** Names that people and the assistant used, then those of outputs: a dump of numbers must not fill the store. */
function boundedIdentifiers(input: FactsInput): readonly NewFact[] {
  const all = identifiers(input);
  const said = all.filter(({ source }) => source.origin !== 'tool');
  return [...said, ...all.filter(({ source }) => source.origin === 'tool')].slice(0, MAX_IDENTIFIERS);
}

function identifiers(input: FactsInput): readonly NewFact[] {
  const names = calledTools(input.parts.map(({ item }) => item));
  return input.parts.flatMap((part) => {
    if (isObserved(part.item)) return [];
    const item = storedItem(part);
    const kind: FactKind = 'identifier';
    const from = (text: string, source: JsonObject): readonly NewFact[] =>
      identifiersOf(text).map((found) =>
        factFrom(input, {
          kind: found.kind === 'url' ? 'url' : found.kind === 'path' ? 'file' : kind,
          text: found.text,
          seq: part.seq,
          source: { ...source, form: found.kind },
          status: 'active',
        }),
      );
    if (item.kind !== 'tool_result_batch') {
      return from(spokenText(item), { origin: item.kind === 'user_message' ? 'user' : 'assistant' });
    }
    return item.results.flatMap(({ callId, content }) => {
      return from(textOf(content), { origin: 'tool', tool: names.get(callId) ?? '', callId });
    });
  });
}

/** Sentences that ask to be kept, whole and each once. */
function durable(text: string): readonly Pick<Said, 'text' | 'says'>[] {
  const found = new Map<string, Pick<Said, 'text' | 'says'>>();
  for (const sentence of sentencesOf(text)) {
    const says = PATTERNS.find(({ pattern }) => pattern.test(sentence))?.says;
    if (says !== undefined && !isQuestion(sentence)) found.set(sentence, { text: sentence, says });
  }
  return [...found.values()];
}

/** Splits at the ends of sentences and lines; the stop inside 3.14 or a.ts is none. */
function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？；])|\n+/)
    .map(oneLine)
    .filter((sentence) => sentence.length >= 4)
    .map((sentence) => headOf(sentence, MAX_MEMORY));
}

function isQuestion(sentence: string): boolean {
  return /[?？]$/.test(sentence);
}

function factFrom(
  { sessionId, compactionId }: FactsInput,
  fact: {
    readonly kind: FactKind;
    readonly text: string;
    readonly seq: number | null;
    readonly source: JsonObject;
    readonly status: FactStatus;
  },
): NewFact {
  const { kind, text, seq, source, status } = fact;
  return {
    factId: factId({ scope: 'session', sessionId, kind, text }),
    scope: 'session',
    kind,
    text,
    status,
    sourceSeq: seq,
    source: { ...source, compactionId },
  };
}
