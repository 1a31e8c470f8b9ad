import type { EffectClass } from '../store/store.ts';
import type { Tool } from './tool.ts';

/** What the effect ledger needs to know of a tool. A tool that says nothing of itself runs at most once. */
export function effectClass({ annotations }: Pick<Tool, 'annotations'>): EffectClass {
  if (annotations.readOnlyHint === true) return 'read_only';
  return annotations.idempotentHint === true ? 'idempotent' : 'at_most_once';
}
