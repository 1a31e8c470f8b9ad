import type { ToolSpec } from '../../transcript/message.ts';
import type { Tool } from '../tool.ts';

/** A server whose tools a run has to do without. */
export interface AwayServer {
  readonly server: string;
  /** One line. */
  readonly reason: string;
}

/** What tool servers offer to a run that opens now. */
export interface Offer {
  /** With names of their own, to be frozen with the run. */
  readonly specs: readonly ToolSpec[];
  readonly away: readonly AwayServer[];
}

/** Tools that other processes bring. What they are is asked once a run, when it opens; from then on its frozen specs count. */
export interface ToolSource {
  /** Reads what is stale anew and waits for servers that start, up to some seconds. Never rejects. */
  offer(): Promise<Offer>;
  /** The tool that was frozen with a run; `undefined` when no server here brings it. */
  tool(spec: ToolSpec): Tool | undefined;
}
