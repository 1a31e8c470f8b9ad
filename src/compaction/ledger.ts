import type { ToolResult } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import type { ViewPart } from '../transcript/view.ts';
import { headOf } from '../transcript/well-formed.ts';
import { oneLine, storedItem, textOf } from './item-text.ts';

/** What a tool does to the file that it is given. Where nothing is said, its name tells. */
export type FileEffect = 'reads' | 'changes';

export type EntryKind = 'changed' | 'read' | 'command' | 'url';

/** A file, command or URL of the tool calls of a conversation. */
export interface LedgerEntry {
  readonly kind: EntryKind;
  readonly text: string;
  /** Last call that named it, where known. */
  readonly seq: number | null;
  /** How its last call ended: an exit status, or a status other than `ok`. */
  readonly outcome?: string;
  readonly tool?: string;
  readonly callId?: string;
}

/** Oldest first; each text once in its kind, with its last call. */
export type ArtifactLedger = readonly LedgerEntry[];

export const LEDGER_HEADING = '## Files, commands and URLs from the record';

const TITLES: Readonly<Record<EntryKind, string>> = {
  changed: 'Changed:',
  read: 'Read:',
  command: 'Ran:',
  url: 'URL:',
};

/** Keys of arguments that name a file, a command or a URL, in the tools of the field. */
const PATH_KEYS =
  /^(?:path|file|files|paths|file_?path|file_?name|filename|target|target_?file|source|destination|src|dst|dest|from|to|notebook_path|old_path|new_path)$/i;
const COMMAND_KEYS = /^(?:command|cmd|script|shell|commands)$/i;
const URL_KEYS = /^(?:url|uri|href|link|urls)$/i;

const CHANGES =
  /(?:^|[_\-.\s])(?:write|edit|create|delete|remove|move|rename|patch|append|replace|insert|update|save|mkdir|copy|apply)(?:$|[_\-.\s])/i;

/** Longest command or path that is kept whole, in characters. */
const MAX_TEXT = 300;

/** The artifact ledger of the calls in `parts`, after an earlier one. */
export function ledgerOf(
  parts: readonly ViewPart[],
  options: { readonly previous?: ArtifactLedger; readonly effects?: (tool: string) => FileEffect | undefined } = {},
): ArtifactLedger {
  const results = resultsById(parts);
  const found = parts.flatMap((part) => {
    const item = storedItem(part);
    if (item.kind !== 'tool_call_batch') return [];
    return item.calls.flatMap((call) => {
      const effect = options.effects?.(call.name) ?? effectOfName(call.name);
      const outcome = outcomeOf(results.get(call.callId));
      const at = { seq: part.seq, tool: call.name, callId: call.callId, ...(outcome === undefined ? {} : { outcome }) };
      return entriesOf(call.arguments, effect).map((entry): LedgerEntry => ({ ...entry, ...at }));
    });
  });
  return mergeLedgers(options.previous ?? [], found);
}

/** Later entries replace earlier ones of the same kind and text and stand last; a file that was changed is not listed as read. */
export function mergeLedgers(earlier: ArtifactLedger, later: ArtifactLedger): ArtifactLedger {
  const byText = new Map<string, LedgerEntry>();
  for (const entry of [...earlier, ...later]) {
    const key = `${entry.kind} ${entry.text}`;
    byText.delete(key);
    byText.set(key, entry);
  }
  return [...byText.values()].filter(({ kind, text }) => kind !== 'read' || !byText.has(`changed ${text}`));
}

/** Files that were changed, the last first. */
export function writtenFiles(ledger: ArtifactLedger): readonly string[] {
  return ledger.flatMap(({ kind, text }) => (kind === 'changed' ? [text] : [])).reverse();
}

/** As Markdown within `limitTokens`: the newest of each kind, changed files first. Empty when there is nothing or no room. */
export function renderLedger(ledger: ArtifactLedger, limitTokens: number): string {
  let room = limitTokens - textTokens(`${LEDGER_HEADING}\n`);
  const lines: string[] = [];
  for (const kind of ['changed', 'command', 'url', 'read'] as const) {
    for (const entry of ledger.filter((candidate) => candidate.kind === kind).reverse()) {
      const line = lineOf(entry);
      const cost = textTokens(`${line}\n`);
      if (cost > room) break;
      room -= cost;
      lines.push(line);
    }
  }
  return lines.length === 0 ? '' : `${LEDGER_HEADING}\n${lines.join('\n')}`;
}

/** The ledger that {@link renderLedger} wrote into an earlier summary, oldest first. */
export function ledgerFrom(summary: string): ArtifactLedger {
  const start = summary.indexOf(`${LEDGER_HEADING}\n`);
  if (start === -1) return [];
  const body = summary.slice(start + LEDGER_HEADING.length + 1).split('\n## ', 1)[0] ?? '';
  return body
    .split('\n')
    .flatMap((line) => entryOf(line) ?? [])
    .reverse();
}

const LINE = /^- (Changed:|Read:|Ran:|URL:) (.*?)(?: → (.*?))?(?: \[#(\d+)\])?$/;

function lineOf({ kind, text, outcome, seq }: LedgerEntry): string {
  return `- ${TITLES[kind]} ${text}${outcome === undefined ? '' : ` → ${outcome}`}${seq === null ? '' : ` [#${seq}]`}`;
}

function entryOf(line: string): LedgerEntry | undefined {
  const match = LINE.exec(line);
  const kind = (Object.keys(TITLES) as EntryKind[]).find((key) => TITLES[key] === match?.[1]);
  if (match === null || kind === undefined || match[2] === undefined) return undefined;
  const outcome = match[3] === undefined ? {} : { outcome: match[3] };
  return { kind, text: match[2], seq: match[4] === undefined ? null : Number(match[4]), ...outcome };
}

function effectOfName(tool: string): FileEffect {
  const words = tool.replace(/([a-z])([A-Z])/g, '$1_$2');
  return CHANGES.test(words) ? 'changes' : 'reads';
}

function entriesOf(
  args: JsonObject,
  effect: FileEffect,
): readonly { readonly kind: EntryKind; readonly text: string }[] {
  return Object.entries(args).flatMap(([key, value]) => {
    const kind = kindOfKey(key, effect);
    if (kind === undefined) return [];
    const texts = (Array.isArray(value) ? value : [value]).filter((entry) => typeof entry === 'string');
    return texts.flatMap((entry) => {
      const text = bounded(oneLine(entry));
      return text === ''
        ? []
        : [{ kind: /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && kind !== 'command' ? 'url' : kind, text }];
    });
  });
}

function kindOfKey(key: string, effect: FileEffect): EntryKind | undefined {
  if (URL_KEYS.test(key)) return 'url';
  if (COMMAND_KEYS.test(key)) return 'command';
  if (PATH_KEYS.test(key)) return effect === 'changes' ? 'changed' : 'read';
  return undefined;
}

function bounded(line: string): string {
  return line.length <= MAX_TEXT ? line : `${headOf(line, MAX_TEXT)}…`;
}

function resultsById(parts: readonly ViewPart[]): ReadonlyMap<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (const part of parts) {
    const item = storedItem(part);
    if (item.kind === 'tool_result_batch') for (const result of item.results) results.set(result.callId, result);
  }
  return results;
}

/** An exit status that the output names near its start or end, else a status that is not `ok`. */
function outcomeOf(result: ToolResult | undefined): string | undefined {
  if (result === undefined) return undefined;
  const text = textOf(result.content);
  const ends = text.length <= 800 ? text : `${text.slice(0, 400)}\n${text.slice(-400)}`;
  const exit =
    /\b(?:exit(?:ed)?(?:[ _]?(?:code|status))?|exitCode|returncode)["']?(?: with)?(?: code| status)?\s*[:=]?\s*(-?\d{1,4})\b/i.exec(
      ends,
    );
  if (exit?.[1] !== undefined) return `exit ${exit[1]}`;
  return result.status === 'ok' ? undefined : result.status;
}
