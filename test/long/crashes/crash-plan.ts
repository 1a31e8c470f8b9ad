import { existsSync, writeFileSync } from 'node:fs';
import { Context } from '@temporalio/activity';
import type { Store } from '../../../src/store/store.ts';

/** The moment at which a worker dies: once in the life of its folder. */
export interface CrashPlan {
  /** Activity during which it happens. */
  readonly activity: string;
  /**
   * `before`: it has begun and looked at nothing. `inside`: all is worked out and nothing committed. `after`: committed,
   * and Temporal has not heard of it.
   */
  readonly at: 'before' | 'inside' | 'after';
  /** Which commit of the activity, from 1; a long summary has several. */
  readonly commit?: number;
}

const COMMITS = new Set<string | symbol>(['commitPhase', 'commitCheckpoint']);

/** The store as an activity uses it, with a `kill -9` of this process at the planned moment. */
export function crashingStore(store: Store, plan: CrashPlan, marker: string): Store {
  let commits = 0;
  const die = (): void => {
    writeFileSync(marker, '');
    process.kill(process.pid, 'SIGKILL');
  };
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const armed = activityType() === plan.activity && !existsSync(marker);
        if (armed && plan.at === 'before') die();
        const planned = armed && COMMITS.has(key) && ++commits === (plan.commit ?? 1);
        if (planned && plan.at === 'inside') die();
        const result: unknown = Reflect.apply(value, target, args);
        return planned ? Promise.resolve(result).finally(die) : result;
      };
    },
  });
}

function activityType(): string | undefined {
  try {
    return Context.current().info.activityType;
  } catch {
    return undefined;
  }
}
