/**
 * Marks a branch that the type checker has proved unreachable.
 *
 * @throws TypeError naming `what` when data that bypassed the types gets here (an old payload, a cast).
 */
export function assertNever(value: never, what: string): never {
  throw new TypeError(`unhandled ${what}: ${JSON.stringify(value)}`);
}
