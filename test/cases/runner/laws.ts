import { check as checkAnthropic } from '../../wire-laws/anthropic.ts';
import { DIALECT_LAWS } from '../../wire-laws/dialects.ts';
import { check as checkChat } from '../../wire-laws/openai-chat.ts';
import { check as checkResponses } from '../../wire-laws/openai-responses.ts';
import type { SeenRequest } from './observation.ts';
import type { Target } from './target.ts';

/** The rules of the target's wire format that a request breaks. */
export function brokenLaws(target: Target, { body }: SeenRequest): string[] {
  switch (target.api) {
    case 'anthropic':
      return checkAnthropic(body, { signatures: !target.compatible });
    case 'openai-responses':
      return checkResponses(body, { plainReasoning: target.compatible });
    default:
      return checkChat(body, DIALECT_LAWS[target.dialect] ?? DIALECT_LAWS.generic);
  }
}
