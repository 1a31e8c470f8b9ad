/** What was started and must not be left behind, ended in the reverse order. */
export class Cleanup {
  readonly #steps: { readonly later: () => Promise<void>; readonly now: () => void }[] = [];

  /** `later` may wait; `now` is for leaving at once. */
  add(later: () => Promise<void>, now: () => void): void {
    this.#steps.push({ later, now });
  }

  /** Ends everything, also when some of it fails; the first failure is told. */
  async all(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.at(-1); step !== undefined; step = this.#steps.at(-1)) {
      await step.later().catch((error: unknown) => failures.push(error));
      // Only now: until it has ended, `now` must still reach it.
      this.#steps.pop();
    }
    if (failures.length > 0) throw failures[0];
  }

  now(): void {
    for (const step of this.#steps.toReversed()) step.now();
  }
}
