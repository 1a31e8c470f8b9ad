import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NAMESPACES } from './temporal-server.ts';

/** A namespace of the shared server that no other test has: making a folder in `claims` is the claim. */
export function claimNamespace(claims: string): string {
  for (const name of NAMESPACES) {
    try {
      mkdirSync(join(claims, name));
      return name;
    } catch {
      // Taken.
    }
  }
  throw new Error('more test files than namespaces: raise NAMESPACES');
}
