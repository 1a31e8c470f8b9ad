/**
 * Gives the calls of an imported conversation ids that are unique in it, and finds the call that a result answers: by
 * occurrence, since some servers use one id for every call.
 */
export interface CallIds {
  /** Our id of a new call. */
  open(nativeId: string): string;
  /** Our id of the latest call of that native id, one without a result first; the native id itself when there is none. */
  answer(nativeId: string): string;
  /** Name of the tool that was called under our id; empty when unknown. */
  nameOf(callId: string): string;
  named(callId: string, name: string): void;
}

export function createCallIds(): CallIds {
  const byNative = new Map<string, { readonly callId: string; answered: boolean }[]>();
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const free = (nativeId: string): string => {
    const base = nativeId === '' ? 'call' : nativeId;
    if (nativeId !== '' && !taken.has(base)) return base;
    for (let n = nativeId === '' ? 1 : 2; ; n += 1) if (!taken.has(`${base}~${n}`)) return `${base}~${n}`;
  };
  return {
    open(nativeId) {
      const callId = free(nativeId);
      taken.add(callId);
      byNative.set(nativeId, [...(byNative.get(nativeId) ?? []), { callId, answered: false }]);
      return callId;
    },
    answer(nativeId) {
      const calls = byNative.get(nativeId) ?? [];
      const call = calls.findLast((each) => !each.answered) ?? calls.at(-1);
      if (call === undefined) return nativeId;
      call.answered = true;
      return call.callId;
    },
    nameOf: (callId) => names.get(callId) ?? '',
    named: (callId, name) => void names.set(callId, name),
  };
}
