import type { AgentSettings, HoldfastConfig } from './settings.ts';
import { validAgent, validConfig } from './validate-config.ts';

/**
 * The default export of `holdfast.config.ts`.
 *
 * @throws HoldfastError `ConfigInvalid` naming each wrong setting.
 */
export function defineConfig(config: HoldfastConfig): HoldfastConfig {
  return validConfig(config, 'holdfast.config.ts');
}

/**
 * One agent of the config.
 *
 * @throws HoldfastError `ConfigInvalid` naming each wrong setting.
 */
export function defineAgent(agent: AgentSettings): AgentSettings {
  return validAgent(agent);
}
