import type { Check } from './finding.ts';

export const store: Check = {
  what: 'store',
  look: async (examination) => {
    const opened = await examination.store();
    if (opened === undefined) {
      return { verdict: 'ok', found: `none yet at ${examination.settings.store}; the first run makes it` };
    }
    await opened.check();
    const { schemaVersion, storeId, location } = await opened.identity();
    return { verdict: 'ok', found: `${location}, schema ${schemaVersion}, id ${storeId}` };
  },
};
