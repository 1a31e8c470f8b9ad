import { failureOf } from '../failure.ts';
import { keys } from './check-keys.ts';
import { mcpServers } from './check-mcp-servers.ts';
import { node } from './check-node.ts';
import { store } from './check-store.ts';
import { stuckRuns } from './check-stuck-runs.ts';
import { namespace, searchAttributes, server, workers } from './check-temporal.ts';
import type { Examination } from './examination.ts';
import type { Check, Finding } from './finding.ts';

/** In the order in which one rests on the other. */
const CHECKS: readonly Check[] = [
  node,
  keys,
  store,
  server,
  namespace,
  searchAttributes,
  workers,
  stuckRuns,
  mcpServers,
];

export async function examine(examination: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { what, look } of CHECKS) {
    try {
      findings.push({ what, ...(await look(examination)) });
    } catch (error) {
      const { message, hint } = failureOf(error);
      findings.push({ what, verdict: 'wrong', found: message, mend: hint });
    }
  }
  return findings;
}
