import { readFileSync } from 'node:fs';
import { type Case, readCases } from './case-file.ts';
import { type Outcome, runCase } from './run-case.ts';

/** Cases that run at once: they wait for sockets more than they compute. */
const PARALLEL = 3;

/** Runs case files and prints one line a failing case, then the totals. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const verbose = args.includes('--verbose');
  const files = args.filter((arg) => !arg.startsWith('--'));
  const cases = (files.length === 0 ? ['test/cases/cases.jsonl'] : files).flatMap((file) =>
    readCases(readFileSync(file, 'utf8'), file),
  );
  const outcomes = await runAll(cases);
  const count = { passed: 0, failed: 0, skipped: 0 };
  outcomes.forEach((outcome, i) => {
    const one = cases[i];
    if (one === undefined) return;
    count[outcome.status] += 1;
    if (outcome.status === 'failed') console.log(failureLine(one, outcome.problems));
    if (outcome.status === 'skipped' && verbose) console.log(`${one.id}: not run: no check`);
  });
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed > 0 ? 1 : 0;
}

function failureLine(one: Case, problems: readonly string[]): string {
  return `${one.id}: ${problems.join(' · ')}`.replaceAll('\n', ' ');
}

/** Tool cases may block the process (huge outputs) or time their calls, so they run by themselves, after the rest. */
async function runAll(cases: readonly Case[]): Promise<Outcome[]> {
  const alone = (one: Case) => one.kind === 'tool';
  const outcomes = new Map<Case, Outcome>();
  const note = async (one: Case) => {
    const outcome = await runCase(one);
    outcomes.set(one, outcome);
    return outcome;
  };
  await inParallel(
    cases.filter((one) => !alone(one)),
    note,
  );
  for (const one of cases.filter(alone)) await note(one);
  return cases.map((one) => outcomes.get(one) ?? { status: 'failed', problems: ['was not run'] });
}

async function inParallel(cases: readonly Case[], run: (one: Case) => Promise<Outcome>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < cases.length; i = next++) {
      const one = cases[i];
      if (one !== undefined) await run(one);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}
