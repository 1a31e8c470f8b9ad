import type { ToolSpec } from '../../transcript/message.ts';
import { defineJsonTool } from '../define-tool.ts';
import { effectClass } from '../effect-class.ts';
import type { Tool } from '../tool.ts';
import { partsOf } from './remote-spec.ts';
import { createMcpServer, type Listing, type McpServer, type McpServerDeps } from './server.ts';
import type { McpServerSettings } from './server-settings.ts';
import type { ToolSource } from './tool-source.ts';

/** The MCP servers of a worker. */
export interface McpServers {
  /** The tools of some of them, for the agents that chose these. */
  source(names: readonly string[]): ToolSource;
  /** What each of them offers, in the order of the config; never rejects. Also starts those that do not run yet. */
  listings(): Promise<readonly { readonly server: string; readonly listing: Listing }[]>;
  /** Ends all sessions and programs. */
  close(): Promise<void>;
}

/** Nothing is started before somebody asks for tools. */
export function createMcpServers(settings: readonly McpServerSettings[], deps: McpServerDeps): McpServers {
  const servers = new Map(settings.map((each) => [each.name, createMcpServer(each, deps)]));
  return {
    source: (names) => source(names.flatMap((name) => servers.get(name) ?? [])),
    listings: () => Promise.all([...servers].map(async ([server, { list }]) => ({ server, listing: await list() }))),
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

function source(servers: readonly McpServer[]): ToolSource {
  const byName = new Map(servers.map((server) => [server.settings.name, server]));
  return {
    async offer() {
      const listings = await Promise.all(servers.map(async (server) => ({ server, listing: await server.list() })));
      return {
        specs: listings.flatMap(({ listing }) => (listing.ok ? listing.specs : [])),
        away: listings.flatMap(({ server, listing }) =>
          listing.ok ? [] : [{ server: server.settings.name, reason: listing.reason }],
        ),
      };
    },
    tool(spec) {
      const parts = partsOf(spec.name);
      const server = parts === undefined ? undefined : byName.get(parts.server);
      return parts === undefined || server === undefined ? undefined : remoteTool(spec, parts.tool, server);
    },
  };
}

/** Arguments are checked by the schema that was frozen; what the server has come to want since, it says itself. */
function remoteTool(spec: ToolSpec, remoteName: string, server: McpServer): Tool {
  const { timeoutSecs } = server.settings;
  const annotations = spec.annotations ?? {};
  const effect = effectClass({ annotations });
  return defineJsonTool({
    name: spec.name,
    description: spec.description,
    inputSchema: spec.inputSchema,
    annotations,
    resultSemantic: effect === 'read_only' ? 'factual' : 'mixed',
    ...(timeoutSecs === undefined ? {} : { timeoutSecs }),
    execute: (args, { signal, idempotencyKey, progress }) =>
      server.call(remoteName, args, effect, { signal, idempotencyKey, progress }),
  });
}
