/** Lets so many through at once, in the order in which they asked. */
export interface Slots {
  take(): Promise<void>;
  give(): void;
}

export function createSlots(count: number): Slots {
  let free = Math.max(1, count);
  const queue: (() => void)[] = [];
  return {
    async take() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
    },
    give() {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
