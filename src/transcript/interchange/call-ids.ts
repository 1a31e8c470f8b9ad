/**
 * Gives the calls of an imported conversation ids that are unique in it, and finds the call that a result answers: by
 * occurrence, since some servers use one id for every call.
 */
export interface CallIds {
  /** Our id of a new call; `batch` is the position of the message that asks for it. */
  open(nativeId: string, batch: number): string;
  /**
   * Our id of the call that a result of that native id answers: the first without a result in the latest batch that has
   * one, else the latest of all; the native id itself when there is none.
   */
  answer(nativeId: string): string;
  /** Name of the tool that was called under our id; empty when unknown. */
  nameOf(callId: string): string;
  named(callId: string, name: string): void;
}

export function createCallIds(): CallIds {
  const byNative = new Map<string, { readonly callId: string; readonly batch: number; answered: boolean }[]>();
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const free = (nativeId: string): string => {
    const base = nativeId === '' ? 'call' : nativeId;
    if (nativeId !== '' && !taken.has(base)) return base;
    for (let n = nativeId === '' ? 1 : 2; ; n += 1) if (!taken.has(`${base}~${n}`)) return `${base}~${n}`;
  };
  return {
    open(nativeId, batch) {
      const callId = free(nativeId);
      taken.add(callId);
      byNative.set(nativeId, [...(byNative.get(nativeId) ?? []), { callId, batch, answered: false }]);
      return callId;
    },
    answer(nativeId) {
      const calls = byNative.get(nativeId) ?? [];
      const batch = calls.findLast((each) => !each.answered)?.batch;
      const call = calls.find((each) => !each.answered && each.batch === batch) ?? calls.at(-1);
      if (call === undefined) return nativeId;
      call.answered = true;
      return call.callId;
    },
    nameOf: (callId) => names.get(callId) ?? '',
    named: (callId, name) => void names.set(callId, name),
  };
}
