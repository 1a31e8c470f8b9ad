import { refused } from './refusals.ts';

/** The view of a session that was never compacted. */
export const FIRST_REVISION = 'start/0';

/** What a revision of a view is made of. */
export interface RevisionParts {
  /** The latest checkpoint; `undefined` before the first. */
  readonly compactionId: string | undefined;
  /** How many edits the session had. */
  readonly edits: number;
}

/** The inverse of {@link revisionParts}. Within a branch checkpoints and edits are only ever added, so the two tell all. */
export function revisionText({ compactionId, edits }: RevisionParts): string {
  return `${compactionId ?? 'start'}/${edits}`;
}

/** @throws StoreError `Internal` for what is no revision. */
export function revisionParts(revision: string): RevisionParts {
  const [, id, edits] = /^(.+)\/(\d+)$/.exec(revision) ?? [];
  if (id === undefined) throw refused(`"${revision}" is no revision of a view.`);
  return { compactionId: id === 'start' ? undefined : id, edits: Number(edits) };
}
