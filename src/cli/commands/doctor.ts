import { examine } from '../doctor/checks.ts';
import { Examination } from '../doctor/examination.ts';
import type { Finding } from '../doctor/finding.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows } from '../output.ts';
import { visible } from '../render/visible.ts';
import type { Settings } from '../settings.ts';

const MARK: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok   ',
  warning: 'warn ',
  wrong: 'WRONG',
  skipped: 'skip ',
};

/** Checks all that a run needs. Fails when something is wrong, not for a warning. */
export async function doctor(settings: Settings, output: Output | undefined): Promise<ExitCode> {
  const examination = new Examination(settings);
  const findings = await examine(examination).finally(() => examination.close());
  printRows(output, findings, (rows) =>
    rows
      .map(({ verdict, what, found, mend }) => {
        const advice = mend === undefined ? '' : `      ${visible(mend)}\n`;
        return `${MARK[verdict]} ${what}: ${visible(found)}\n${advice}`;
      })
      .join(''),
  );
  return findings.some(({ verdict }) => verdict === 'wrong') ? EXIT.unavailable : EXIT.ok;
}
