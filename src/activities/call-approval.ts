import type { CallDecision } from '../contract/activities.ts';
import { argumentsHash } from '../tools/arguments-hash.ts';
import type { Tool } from '../tools/tool.ts';
import { assertNever } from '../transcript/assert-never.ts';
import type { ToolCall, ToolResult } from '../transcript/items.ts';
import { syntheticResult } from '../transcript/synthetic-result.ts';
import type { AgentSpec } from './agents.ts';
import { noteText } from './note-text.ts';
import type { Executed } from './tool-execution.ts';
import type { ToolJob } from './tool-job.ts';
import { ruledOn } from './tool-policy.ts';

/**
 * The result of a call that may not run: denied by the policy or by people, or not approved. The policy is asked again,
 * and whatever asks runs only with an approval of these very arguments or a grant for the session.
 */
export async function refusedCall(job: ToolJob, agent: AgentSpec, tool: Tool): Promise<Executed | undefined> {
  const { deps, call, input } = job;
  const { decision: rule, reason } = await ruledOn(deps, agent, tool, call);
  if (rule === 'deny') return denied(call, reason);
  const given = input.decision === undefined ? undefined : refusalOf(call, input.decision);
  if (given !== undefined || rule === 'allow' || input.decision !== undefined) return given;
  const grants = await deps.store.grants(input.ref.sessionId);
  if (grants.includes(tool.name)) return undefined;
  return denied(
    call,
    'It needs an approval, and nobody was asked: the configuration has changed. Make the call again.',
  );
}

function refusalOf(call: ToolCall, decision: CallDecision): Executed | undefined {
  switch (decision.decision) {
    case 'approve':
    case 'approve_session':
      if (decision.argumentsHash === argumentsHash(call.name, call.arguments)) return undefined;
      return denied(call, 'The approval was for other arguments.');
    case 'deny':
      return denied(call, noteOf(decision));
    case 'timed_out':
      return { result: unanswered(call) };
    default:
      return assertNever(decision.decision, 'decision');
  }
}

function denied(call: ToolCall, detail: string | undefined): Executed {
  return { result: syntheticResult(call.callId, 'denied', detail) };
}

function noteOf({ note }: CallDecision): string | undefined {
  const text = noteText(note);
  return text === '' ? undefined : `The user says: ${text}`;
}

/** Not the text of a tool that took too long: this one never ran. */
function unanswered({ callId }: ToolCall): ToolResult {
  const text = 'This call was not run: nobody approved it before its deadline. It had no effect.';
  return { callId, status: 'timed_out', content: [{ type: 'text', text }] };
}
