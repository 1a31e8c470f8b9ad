import { assertNever } from './assert-never.ts';
import { shrinkJson } from './shrink-json.ts';
import { headOf } from './well-formed.ts';

/** What is done to one old result; `keep` counts characters. */
export type CompactAction =
  | { readonly type: 'skip' }
  | { readonly type: 'truncate'; readonly keep: number }
  /** JSON stays valid JSON: skeleton kept, data cut. */
  | { readonly type: 'truncate_structured'; readonly keep: number }
  | { readonly type: 'replace' };

/** What stands in the place of a result that was replaced. */
export const PRUNED = '[pruned]';

/** What stands in the place of reasoning that was replaced. */
export const PRUNED_THINKING = '[pruned thinking]';

/** Size against worth: small results stay, large ones stay only in the part that they are worth. */
export function decideStrategy(characters: number, score: number): CompactAction {
  if (characters <= 200) return { type: 'skip' };
  if (characters <= 2000) return score >= 1 ? { type: 'skip' } : { type: 'truncate', keep: 200 };
  if (score >= 2) return { type: 'truncate_structured', keep: 500 };
  return score >= 1 ? { type: 'truncate', keep: 200 } : { type: 'replace' };
}

/** Characters that an edit must save: less is not worth a break in the cached prefix. */
const MIN_SAVED = 20;

/** The shortened text; the same text when shortening would not make it shorter. */
export function compacted(text: string, action: CompactAction): string {
  switch (action.type) {
    case 'skip':
      return text;
    case 'truncate':
      return shorter(text, start(text, action.keep));
    case 'truncate_structured':
      return shorter(text, structured(text, action.keep) ?? start(text, action.keep));
    case 'replace':
      return shorter(text, PRUNED);
    default:
      return assertNever(action, 'compact action');
  }
}

function shorter(text: string, candidate: string): string {
  return candidate.length + MIN_SAVED <= text.length ? candidate : text;
}

function start(text: string, keep: number): string {
  return `${headOf(text, keep)}… [cut from ${text.length} characters]`;
}

function structured(text: string, keep: number): string | undefined {
  return shrinkJson(text, { fits: (candidate) => candidate.length <= keep });
}
