import { configuredMcpServers } from '../../config/mcp-servers.ts';
import type { Check } from './finding.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {} };
/** Names of tools that a line has room for. */
const MAX_NAMES = 8;

/** Starts each server of the config as a worker would, asks for its tools, and ends it again. */
export const mcpServers: Check = {
  what: 'MCP servers',
  look: async ({ settings }) => {
    const servers = configuredMcpServers(settings, { env: process.env, log: SILENT, allowEffects: true });
    const listings = await servers.listings().finally(() => servers.close());
    if (listings.length === 0) return { verdict: 'ok', found: 'none in the config' };
    const found = listings.map(({ server, listing }) =>
      listing.ok
        ? `${server}: ${toolNames(server, listing.specs)}${leftOut(listing.leftOut)}`
        : `${server}: away, ${listing.reason}`,
    );
    const away = listings.filter(({ listing }) => !listing.ok);
    if (away.length === 0) return { verdict: 'ok', found: found.join('; ') };
    return {
      verdict: 'warning',
      found: found.join('; '),
      mend: `Correct mcpServers.${away[0]?.server} of the config, or start what it names; until then agents go on without its tools.`,
    };
  },
};

function toolNames(server: string, specs: readonly { readonly name: string }[]): string {
  const names = specs.slice(0, MAX_NAMES).map(({ name }) => name.slice(server.length + 2));
  const more = specs.length > MAX_NAMES ? ', …' : '';
  return `${specs.length} tools${names.length === 0 ? '' : ` (${names.join(', ')}${more})`}`;
}

function leftOut(tools: readonly string[]): string {
  return tools.length === 0 ? '' : `, left out: ${tools.join('; ')}`;
}
