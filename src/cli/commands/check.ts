import { readFileSync } from 'node:fs';
import { HoldfastError } from '../../contract/errors.ts';
import { checkFile } from '../../transcript/interchange/check-file.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson, printRows } from '../output.ts';
import { visibleLine } from '../render/visible.ts';

/** Says what is wrong with a transcript file, where, and what an import would do about it. Exits 1 when something is. */
export async function check(file: string, output: Output | undefined): Promise<ExitCode> {
  const report = checkFile(readText(file));
  if (output === 'json') printJson(report);
  else {
    printRows(output, [...report.violations, ...report.repairs], () => {
      const place = ({ index, line }: { index: number; line?: number }): string =>
        line === undefined ? `item ${index}` : `item ${index}, line ${line}`;
      const lines = [
        `${report.format}, ${report.items} items`,
        ...report.violations.map((one) => `  ${place(one.position)}: ${one.code}: ${visibleLine(one.message, 160)}`),
        ...report.repairs.map(
          (one) => `  ${place(one.position)}: repair: ${visibleLine(JSON.stringify(one.repair), 160)}`,
        ),
        ...report.losses.map((one) => `  not held: ${visibleLine(one.detail, 160)}`),
        report.violations.length === 0 ? 'valid' : `${report.violations.length} violations`,
      ];
      return `${lines.join('\n')}\n`;
    });
  }
  return report.violations.length === 0 ? EXIT.ok : EXIT.runFailed;
}

/** @throws HoldfastError `InvalidInput` when the file cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HoldfastError('InvalidInput', `${file} cannot be read`, {
      cause: error,
      hint: 'Name a file that exists.',
    });
  }
}
