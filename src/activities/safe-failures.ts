/** How deep a chain of causes is followed; Temporal writes all of it into the history. */
const MAX_CAUSES = 20;

/** Whatever it takes: only what it throws is looked at. */
type Activity = (input: never) => Promise<unknown>;

/**
 * The same activities, whose failures hold no secret: message, stack and causes of what they throw go into histories,
 * and vendors' clients put whole answers into them.
 */
export function withSafeFailures<A extends Readonly<Record<keyof A, Activity>>>(
  activities: A,
  redact: (text: string) => string,
): A {
  const safe = Object.entries<Activity>(activities).map(([name, activity]): [string, Activity] => [
    name,
    async (input) => {
      try {
        return await activity(input);
      } catch (error) {
        clean(error, redact);
        throw error;
      }
    },
  ]);
  return Object.fromEntries(safe) as A;
}

function clean(error: unknown, redact: (text: string) => string): void {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth += 1) {
    at.message = redact(at.message);
    if (at.stack !== undefined) at.stack = redact(at.stack);
    at = at.cause;
  }
}
