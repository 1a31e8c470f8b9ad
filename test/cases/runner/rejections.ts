/** Counts promise rejections that nobody handles while a run lasts. */
export function watchRejections(): { stop(): Promise<number> } {
  let count = 0;
  const note = (): void => {
    count += 1;
  };
  process.on('unhandledRejection', note);
  return {
    async stop() {
      // Node reports them after the microtasks of the turn in which they were left.
      await new Promise((resolve) => setTimeout(resolve, 10));
      process.off('unhandledRejection', note);
      return count;
    },
  };
}
