/**
 * The text of one step as it reaches a reader in pieces, reconciled with the finished text.
 *
 * Deltas go from the store once the step is committed, so the last ones may never be seen; a repeated attempt makes the
 * earlier ones void.
 */
export class StreamedText {
  #step = -1;
  #shown = '';

  /** What is on the screen of the step's text. */
  get shown(): string {
    return this.#shown;
  }

  append(step: number, text: string): void {
    if (step !== this.#step) this.#shown = '';
    this.#step = step;
    this.#shown += text;
  }

  /** Forgets the step's text: what is on the screen is void. Returns what that was. */
  drop(): string {
    const dropped = this.#shown;
    this.#shown = '';
    return dropped;
  }

  /**
   * The finished text came: what is still to be shown, or `mismatch` when what was shown is no beginning of it.
   * Afterwards all of it counts as shown.
   */
  finish(step: number, text: string): { readonly rest: string } | 'mismatch' {
    const shown = step === this.#step ? this.#shown : '';
    this.#step = step;
    this.#shown = text;
    return text.startsWith(shown) ? { rest: text.slice(shown.length) } : 'mismatch';
  }
}
