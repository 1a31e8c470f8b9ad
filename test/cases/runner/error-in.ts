import { callOnce } from './call-once.ts';
import { type Case, isObj, type Obj, objs } from './case-file.ts';
import { knownOf } from './case-input.ts';
import { openLab } from './lab.ts';
import { requestOf, USER } from './next-request.ts';
import type { Observation } from './observation.ts';
import { type Target, targetOfApi } from './target.ts';

/** Attempts that the runner makes while an error says that the same request may succeed; waits are left out. */
const MAX_ATTEMPTS = 4;

/** Lets a real client receive each recorded error answer and looks at what the product makes of it. */
export async function runErrorIn(one: Case): Promise<Observation> {
  const { input } = one;
  if (Array.isArray(input.variants)) {
    return {
      variants: await Promise.all(objs(input.variants).map((variant) => observe(one, { ...input, ...variant }))),
    };
  }
  const seen = await observe(one, input);
  return isObj(input.variant) ? { ...seen, variant: await observe(one, { ...input, ...input.variant }) } : seen;
}

async function observe(one: Case, input: Obj): Promise<Observation> {
  const target = targetFor(one, input);
  const lab = await openLab({ repeat: true, hangs: input.end === 'hang' });
  try {
    lab.give([
      { http: isObj(input.http) ? input.http : input, end: typeof input.end === 'string' ? input.end : 'close' },
    ]);
    const request = requestOf([USER], { model: lab.model(target) });
    for (let attempt = 1; ; attempt += 1) {
      const { seen } = await callOnce(lab, target, request, knownOf(input));
      if (seen.error?.retryable !== true || attempt === MAX_ATTEMPTS)
        return { ...seen, requests: lab.requests(target) };
    }
  } finally {
    await lab.close();
  }
}

/** The case names an API, or a provider whose API is known. */
function targetFor({ provider }: Case, input: Obj): Target {
  const api =
    typeof input.api === 'string' ? input.api : { anthropic: 'messages', 'openai-responses': 'responses' }[provider];
  return targetOfApi(api ?? 'chat', provider);
}
