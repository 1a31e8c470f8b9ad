import { userInfo } from 'node:os';

/** Who decides at this terminal, as it is kept with the decision. */
export function userName(): string {
  try {
    return userInfo().username || 'user';
  } catch {
    // The account has no name (a container that runs under a bare number).
    return 'user';
  }
}
