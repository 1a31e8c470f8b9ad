import { requireUsable, resolveModel } from '../config/resolve-model.ts';
import type { Settings } from './settings.ts';

/**
 * Checks that a worker of ours could ask the model of a run, before anything is started.
 *
 * @throws HoldfastError `UnknownModel`, `MissingKey`.
 */
export async function requireModel({ config }: Settings, wish: { agent?: string; model?: string }): Promise<void> {
  const agent = config.agents?.find(({ name }) => name === (wish.agent ?? 'default'));
  const named = wish.model ?? agent?.model;
  if (named === undefined) await resolveModel({ config, env: process.env });
  else requireUsable(named, config, process.env);
}
