import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';

/** Where a line matches: its index in the batch and the column of the first match, both from 0. */
interface LineMatch {
  readonly index: number;
  readonly column: number;
}

/** Finds the lines of a batch that match. Close it when done. */
export interface LineMatcher {
  /** In order. @throws Refusal when a pattern takes too long, `signal.reason` once aborted. */
  find(lines: readonly string[], signal: AbortSignal): Promise<readonly LineMatch[]>;
  close(): Promise<void>;
}

/** Milliseconds for one batch of lines (some 256 KiB of files): ordinary patterns need a few. */
const BATCH_MS = 2000;

/**
 * Smart case, as in ripgrep: a query without capitals matches both; escapes of patterns such as `\W` are not capitals.
 *
 * @throws Refusal for a pattern that is no regular expression.
 */
export function createLineMatcher(
  query: string,
  options: { readonly regex: boolean; readonly caseSensitive?: boolean },
): LineMatcher {
  const letters = options.regex ? query.replace(/\\(?:[pP]\{[^}]*\}|.)/gs, '') : query;
  const caseSensitive = options.caseSensitive ?? /\p{Lu}/u.test(letters);
  return options.regex ? regexMatcher(query, caseSensitive) : literalMatcher(query, caseSensitive);
}

function literalMatcher(query: string, caseSensitive: boolean): LineMatcher {
  // A literal as a pattern cannot backtrack, and it compares cases without changing lengths.
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), caseSensitive ? 'u' : 'iu');
  return {
    find: async (lines, signal) => {
      signal.throwIfAborted();
      return lines.flatMap((line, index) => {
        const column = caseSensitive ? line.indexOf(query) : (pattern.exec(line)?.index ?? -1);
        return column < 0 ? [] : [{ index, column }];
      });
    },
    close: async () => undefined,
  };
}

/**
 * Body of the thread that runs patterns. A pattern can backtrack for years, and nothing in its own thread could stop
 * it. Plain text, because a worker file would have another name once compiled.
 */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pattern = new RegExp(workerData.source, workerData.flags);
  parentPort.on('message', (lines) => {
    const found = [];
    for (let i = 0; i < lines.length; i += 1) {
      const match = pattern.exec(lines[i]);
      if (match !== null) found.push({ index: i, column: match.index });
    }
    parentPort.postMessage(found);
  });
`;

function regexMatcher(source: string, caseSensitive: boolean): LineMatcher {
  const flags = usableFlags(source, caseSensitive ? '' : 'i');
  let thread: Worker | undefined;
  const close = async (): Promise<void> => {
    const stopping = thread;
    thread = undefined;
    await stopping?.terminate();
  };
  return {
    close,
    find: async (lines, signal) => {
      signal.throwIfAborted();
      try {
        thread ??= await started(source, flags);
        return await answer(thread, lines, signal);
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

/** A thread that is up: a busy machine takes its time over that, which must not count against the pattern. */
async function started(source: string, flags: string): Promise<Worker> {
  const thread = new Worker(THREAD, { eval: true, workerData: { source, flags } });
  await once(thread, 'online');
  return thread;
}

/** Unicode mode where the pattern allows it; without, models' needless escapes such as `\-` still work. */
function usableFlags(source: string, flags: string): string {
  for (const mode of ['u', '']) {
    try {
      new RegExp(source, mode + flags);
      return mode + flags;
    } catch (error) {
      if (mode !== '') continue;
      throw new Refusal(`This is no regular expression (${error instanceof Error ? error.message : 'unknown'}).`, {
        cause: error,
      });
    }
  }
  return flags;
}

function answer(thread: Worker, lines: readonly string[], signal: AbortSignal): Promise<readonly LineMatch[]> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onAbort = (): void => settle(() => reject(signal.reason));
    const onMessage = (found: readonly LineMatch[]): void => settle(() => resolve(found));
    const onError = (error: unknown): void => settle(() => reject(error));
    const onExit = (): void => settle(() => reject(new Error('the search thread ended')));
    const timer = setTimeout(() => {
      const advice = 'Search for a plain text, or write a pattern without nested repetition.';
      settle(() => reject(new Refusal(`This pattern takes too long on a line of the workspace. ${advice}`)));
    }, BATCH_MS);
    signal.addEventListener('abort', onAbort, { once: true });
    thread.once('message', onMessage).once('error', onError).once('exit', onExit);
    thread.postMessage(lines);
  });
}
