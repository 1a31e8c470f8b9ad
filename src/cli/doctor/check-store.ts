import type { Finding } from './checks.ts';
import type { Examination } from './examination.ts';

export const store = {
  what: 'store',
  check: async (examination: Examination): Promise<Omit<Finding, 'what'>> => {
    const opened = await examination.store();
    if (opened === undefined) {
      return { verdict: 'ok', found: `none yet at ${examination.settings.store}; the first run makes it` };
    }
    await opened.check();
    const { schemaVersion, storeId, location } = await opened.identity();
    return { verdict: 'ok', found: `${location}, schema ${schemaVersion}, id ${storeId}` };
  },
};
