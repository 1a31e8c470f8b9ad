import type { Check } from './finding.ts';

const OLDEST = [20, 19] as const;

export const node: Check = {
  what: 'Node',
  look: async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const old = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
    return old
      ? { verdict: 'wrong', found: process.version, mend: `Use Node ${OLDEST.join('.')} or later.` }
      : { verdict: 'ok', found: `${process.version} on ${process.platform} ${process.arch}` };
  },
};
