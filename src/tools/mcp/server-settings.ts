/** A program that speaks MCP on its standard input and output. */
export interface StdioServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** All that it finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the folder that it runs in. */
  readonly cwd: string;
}

/** A server that speaks MCP's streamable HTTP. */
export interface HttpServer {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A server that cannot be started as the environment is. */
export interface UnsetServer {
  readonly kind: 'unset';
  readonly reason: string;
}

/** A server with its secrets filled in: never logged or stored. */
export interface McpServerSettings {
  readonly name: string;
  readonly server: StdioServer | HttpServer | UnsetServer;
  /** Seconds for one call; absent: the agent's. */
  readonly timeoutSecs?: number;
}

/** A letter, then letters, digits and dashes: no `_`, so that `<server>__<tool>` can be taken apart again. */
export const SERVER_NAME: RegExp = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;

/** Bytes of one message; what is longer is never held in memory. A file of 32 MiB fits in base64. */
export const MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;
