import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { fileLines, type Lines } from './file-lines.ts';
import { fileList } from './file-list.ts';
import { createLineMatcher, type LineMatcher } from './line-matcher.ts';
import type { Workspace } from './workspace.ts';

const DEFAULT_RESULTS = 100;
const MAX_RESULTS = 1000;
/** Matches of one file that are shown when others have some too: a generated file must not fill the answer. */
const MAX_PER_FILE = 50;
/** Characters of a line that are shown, around the match. */
const MAX_SHOWN = 300;

const input = z.object({
  query: z.string().min(1).max(2000).describe('Text to look for; a query without capital letters ignores case.'),
  regex: z.boolean().optional().describe('Take the query as a JavaScript regular expression, matched line by line.'),
  glob: z.string().optional().describe('Only files that match, such as `src/**/*.ts` or `*.md`.'),
  caseSensitive: z.boolean().optional().describe('Default: only when the query has capital letters.'),
  maxResults: z.number().int().min(1).max(MAX_RESULTS).optional().describe(`Default ${DEFAULT_RESULTS}.`),
});

/** The tool `search_text`: lines of text files that hold a text or match a pattern. */
export function createSearchText(workspace: Workspace): Tool {
  return defineTool({
    name: 'search_text',
    description:
      'Searches the text files of the workspace line by line and gives `path:line: text` for each match. Skips binary files and what .gitignore excludes.',
    input,
    annotations: { title: 'Search text', readOnlyHint: true, openWorldHint: false },
    resultSemantic: 'factual',
    label: ({ query, glob }) => `search_text ${JSON.stringify(query)}${glob === undefined ? '' : ` in ${glob}`}`,
    execute: async (args, { signal, progress }) => {
      const matcher = createLineMatcher(args.query, {
        regex: args.regex ?? false,
        ...(args.caseSensitive === undefined ? {} : { caseSensitive: args.caseSensitive }),
      });
      try {
        const files = await fileList(workspace, args.glob ?? '**', signal);
        progress(`searching ${files.length} files`);
        const limit = args.maxResults ?? DEFAULT_RESULTS;
        return report(await search(workspace, files, matcher, limit, signal), files.length, limit);
      } finally {
        await matcher.close();
      }
    },
  });
}

interface Findings {
  readonly lines: readonly string[];
  readonly matches: number;
  readonly files: number;
  readonly hiddenInFiles: number;
  /** Whether the search ended before the last file. */
  readonly stopped: boolean;
}

async function search(
  workspace: Workspace,
  files: readonly string[],
  matcher: LineMatcher,
  limit: number,
  signal: AbortSignal,
): Promise<Findings> {
  const perFile = files.length === 1 ? MAX_RESULTS : MAX_PER_FILE;
  const lines: string[] = [];
  const inFile = new Map<string, number>();
  let [matches, hidden] = [0, 0];
  for await (const group of fileLines(workspace, files, signal)) {
    for (const { file, number, text, column } of await matchesIn(group, matcher, signal)) {
      // One more than can be shown, to know whether there is more.
      if (lines.length > limit) break;
      matches += 1;
      const count = (inFile.get(file) ?? 0) + 1;
      inFile.set(file, count);
      if (count > perFile) hidden += 1;
      else lines.push(`${oneLine(file)}:${number}: ${around(text, column)}`);
    }
    if (lines.length > limit) break;
  }
  const stopped = lines.length > limit;
  return { lines: lines.slice(0, limit), matches, files: inFile.size, hiddenInFiles: hidden, stopped };
}

interface Match {
  readonly file: string;
  readonly number: number;
  readonly text: string;
  readonly column: number;
}

/** One call of the matcher for the whole group: it may be a thread away. */
async function matchesIn(
  group: readonly Lines[],
  matcher: LineMatcher,
  signal: AbortSignal,
): Promise<readonly Match[]> {
  const found = await matcher.find(
    group.flatMap(({ lines }) => lines),
    signal,
  );
  const matches: Match[] = [];
  let [part, before] = [0, 0];
  for (const { index, column } of found) {
    for (let at = group[part]; at !== undefined && index >= before + at.lines.length; at = group[part]) {
      before += at.lines.length;
      part += 1;
    }
    const within = group[part];
    if (within === undefined) break;
    const offset = index - before;
    matches.push({ file: within.file, number: within.first + offset, text: within.lines[offset] ?? '', column });
  }
  return matches;
}

/** The part of a long line that holds the match. */
function around(line: string, column: number): string {
  const text = line.trimEnd();
  if (text.length <= MAX_SHOWN) return text;
  const start = Math.max(0, Math.min(column - MAX_SHOWN / 3, text.length - MAX_SHOWN));
  const end = start + MAX_SHOWN;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

/** A file may be called anything; its name must not forge lines of the result. */
export function oneLine(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}

function report(found: Findings, searched: number, limit: number): string {
  if (found.matches === 0) return `No matches in ${count(searched, 'file')}.`;
  const more = found.stopped ? `[more matches: stopped at ${limit}; narrow the query or the glob]` : '';
  const hidden =
    found.hiddenInFiles === 0
      ? ''
      : `[${found.hiddenInFiles} further matches in files with more than ${MAX_PER_FILE} are not shown]`;
  const total = found.stopped ? 'at least ' : '';
  const head = `[${total}${count(found.matches, 'match', 'matches')} in ${count(found.files, 'file')}]`;
  return [head, ...found.lines, more, hidden].filter((line) => line !== '').join('\n');
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
