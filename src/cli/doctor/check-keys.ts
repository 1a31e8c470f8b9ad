import { resolveModel } from '../../config/resolve-model.ts';
import type { Check } from './finding.ts';

export const keys: Check = {
  what: 'model',
  look: async ({ settings }) => {
    const { name, source, reason } = await resolveModel({ config: settings.config, env: process.env });
    const found = `${name} (${reason})`;
    if (source !== 'offline') return { verdict: 'ok', found };
    const mend = 'Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or HOLDFAST_MODEL=provider/model.';
    return { verdict: 'warning', found, mend };
  },
};
