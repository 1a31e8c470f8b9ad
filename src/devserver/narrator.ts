/** Where the launcher tells what it does. Both take one line without a line end. */
export interface Narrator {
  /** A step begun or done. */
  readonly say: (line: string) => void;
  /** Something still going on; each line may replace the one before. */
  readonly progress: (line: string) => void;
}
