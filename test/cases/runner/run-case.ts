import type { Case } from './case-file.ts';
import { problems, unknownKeys } from './check.ts';
import { runCompaction } from './compaction.ts';
import { runErrorIn } from './error-in.ts';
import type { Observation } from './observation.ts';
import { runSchema } from './schema.ts';
import { runAnswerIn } from './stream-in.ts';
import { runToolCase } from './tool.ts';
import { runTranscriptIn } from './transcript-in.ts';

/** How one case went. `skipped`: it has no check; one that has a check always runs. */
export type Outcome =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly problems: readonly string[] }
  | { readonly status: 'skipped' };

/** What each kind of case goes through. */
const KINDS: Readonly<Record<string, (one: Case) => Promise<Observation>>> = {
  'transcript-in': runTranscriptIn,
  'stream-in': runAnswerIn,
  'response-in': runAnswerIn,
  'error-in': runErrorIn,
  schema: runSchema,
  tool: runToolCase,
  compaction: runCompaction,
};

/** Runs one case. Never rejects: a crash is a failure of the case. */
export async function runCase(one: Case): Promise<Outcome> {
  if (one.check === undefined) return { status: 'skipped' };
  const run = Object.hasOwn(KINDS, one.kind) ? KINDS[one.kind] : undefined;
  if (run === undefined) return { status: 'failed', problems: [`unknown kind ${one.kind}`] };
  const unknown = unknownKeys(one.check);
  if (unknown.length > 0) return { status: 'failed', problems: unknown.map((key) => `unknown check key ${key}`) };
  try {
    const found = judge(one, await within(run(one)));
    return found.length === 0 ? { status: 'passed' } : { status: 'failed', problems: found };
  } catch (error) {
    return { status: 'failed', problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

/** Longer than any case may take, also on a busy machine; a hang is a failure of its case. */
const LIMIT_MS = 120_000;

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Problems of an observation and of every further form of the same input, and broken wire rules of any request. */
function judge(one: Case, seen: Observation): string[] {
  const check = one.check ?? {};
  const forms = (seen.sameAs ?? []).flatMap((form, i) =>
    judge(one, form).map((problem) => `further form ${i + 1}: ${problem}`),
  );
  const broken = [seen, ...(seen.variants ?? []), ...(seen.variant === undefined ? [] : [seen.variant])].flatMap(
    (each) => each.broken ?? [],
  );
  return [...problems(check, seen), ...[...new Set(broken)].map((rule) => `breaks a wire rule: ${rule}`), ...forms];
}
