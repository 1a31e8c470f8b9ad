import { mediaEdits } from './media-edits.ts';
import { type MicrocompactOptions, microcompact } from './microcompact.ts';
import { outputsOverCap } from './shrink-view.ts';
import { buildView, type View, viewTokens } from './view.ts';
import type { ViewEdit } from './view-edits.ts';

export interface MaintenanceOptions extends MicrocompactOptions {
  /** Tokens that one tool output may take. */
  readonly outputCap: number;
  /** Bytes that media may take in a request, as base64; absent for no limit. */
  readonly maxMediaBytes?: number;
}

export interface Maintained {
  /** In the order in which they are to be committed. */
  readonly edits: readonly ViewEdit[];
  /** The view with the edits. */
  readonly view: View;
  readonly tokensFreed: number;
}

/**
 * What a maintenance pass does before anything is summarised: outputs over their cap lose their middle, old results are
 * shortened by size and worth, the oldest media become notes. No model is called. The view is changed by committing the
 * edits, all at once; a pass that finds nothing gives none and keeps the provider's cache.
 */
export function maintainView(view: View, options: MaintenanceOptions): Maintained {
  const capped = withEdits(view, outputsOverCap(view, options.outputCap));
  const compact = withEdits(capped, microcompact(capped, options).edits);
  const { maxMediaBytes } = options;
  const small =
    maxMediaBytes === undefined ? compact : withEdits(compact, mediaEdits(compact, { maxBytes: maxMediaBytes }));
  const edits = (small.input.edits ?? []).slice(view.input.edits?.length ?? 0);
  return { edits, view: small, tokensFreed: viewTokens(view) - viewTokens(small) };
}

function withEdits(view: View, edits: readonly ViewEdit[]): View {
  return edits.length === 0 ? view : buildView({ ...view.input, edits: [...(view.input.edits ?? []), ...edits] });
}
