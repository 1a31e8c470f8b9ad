import type { Check } from './finding.ts';

export const keys: Check = {
  what: 'model',
  look: async () => {
    return { verdict: 'ok', found: '' };
  },
};
