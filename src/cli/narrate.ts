import type { Narrator } from '../devserver/narrator.ts';
import { visibleLine } from './render/visible.ts';

const QUIET_PROGRESS_MS = 15_000;

/** The launcher's steps as lines on stderr; progress in place on a terminal, else a line now and then. */
export function narrator(): Narrator {
  const { stderr } = process;
  let lastAt = 0;
  let inPlace = false;
  const clear = (): void => {
    if (inPlace) stderr.write('\r\u001b[2K');
    inPlace = false;
  };
  return {
    say: (line) => {
      clear();
      stderr.write(`${visibleLine(line, 400)}\n`);
    },
    progress: (line) => {
      if (stderr.isTTY) {
        stderr.write(`\r\u001b[2K${visibleLine(line, stderr.columns - 1)}`);
        inPlace = true;
      } else if (Date.now() - lastAt > QUIET_PROGRESS_MS) {
        lastAt = Date.now();
        stderr.write(`${visibleLine(line, 400)}\n`);
      }
    },
  };
}
