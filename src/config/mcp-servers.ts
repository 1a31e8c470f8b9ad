import path from 'node:path';
import { createMcpServers, type McpServers } from '../tools/mcp/mcp-servers.ts';
import type { McpLog } from '../tools/mcp/server.ts';
import type { McpServerSettings } from '../tools/mcp/server-settings.ts';
import { commandEnvironment } from '../tools/workspace-effects/command-environment.ts';
import { secretMask } from '../transcript/mask-secrets.ts';
import { secretValues } from './endpoints.ts';
import type { Environment, LoadedConfig } from './load-config.ts';
import type { McpServerConfig } from './settings.ts';

export interface McpDeps {
  readonly env: Environment;
  readonly log: McpLog;
  /** `false` offers only tools that say that they only read. */
  readonly allowEffects: boolean;
}

/** The MCP servers of a config. None is started yet, and without any nothing of MCP is loaded. */
export function configuredMcpServers(
  { config, folder }: Pick<LoadedConfig, 'config' | 'folder'>,
  { env, log, allowEffects }: McpDeps,
): McpServers {
  const settings = Object.entries(config.mcpServers ?? {}).map(([name, server]) => resolved(name, server, folder, env));
  return createMcpServers(settings, { log, allowEffects, redact: secretMask(secretValues(config, env)) });
}

/** With values from the environment. A variable that is not set costs this server only, and is told when it is to start. */
function resolved(name: string, server: McpServerConfig, folder: string, env: Environment): McpServerSettings {
  const { command, args = [], cwd, url, timeoutSecs } = server;
  const { values, unset } = valuesOf(server.env ?? server.headers ?? {}, env);
  const common = { name, ...(timeoutSecs === undefined ? {} : { timeoutSecs }) };
  if (unset.length > 0) {
    const names = unset.join(', ');
    return { ...common, server: { kind: 'unset', reason: `not set in the environment: ${names}` } };
  }
  if (url !== undefined) return { ...common, server: { kind: 'http', url, headers: values } };
  return {
    ...common,
    server: {
      kind: 'stdio',
      command: command ?? '',
      args,
      env: { ...commandEnvironment(env), ...values },
      cwd: path.resolve(folder, cwd ?? '.'),
    },
  };
}

function valuesOf(
  given: NonNullable<McpServerConfig['env']>,
  env: Environment,
): { readonly values: Record<string, string>; readonly unset: readonly string[] } {
  const values: Record<string, string> = {};
  const unset: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const found = typeof value === 'string' ? value : env[value.env];
    if (found) values[name] = found;
    else if (typeof value !== 'string') unset.push(value.env);
    else values[name] = '';
  }
  return { values, unset };
}
