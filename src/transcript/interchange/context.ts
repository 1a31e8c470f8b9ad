import type { MediaRef, ReplayScope } from '../items.ts';

/** What did not survive a conversion, for the report. */
export interface Loss {
  /** Position of the message in its list, from 0; `null` for the file as a whole. */
  readonly index: number | null;
  /** One line for people. */
  readonly detail: string;
}

/** What an import is given. Everything is optional: a check needs none of it. */
export interface ImportContext {
  /** Keeps media and gives their reference. Absent: a reference that leads nowhere, enough for checking. */
  readonly storeMedia?: (base64: string, mediaType: string, name?: string) => MediaRef;
  /** Where signatures and encrypted reasoning may go back to. Absent: nowhere, they are only kept for export. */
  readonly scope?: ReplayScope;
  readonly lose?: (loss: Loss) => void;
}

/** What an export is given. */
export interface ExportContext {
  /** Base64 of media, or `undefined` when the bytes are gone. */
  readonly media?: (media: MediaRef) => string | undefined;
  readonly lose?: (loss: Loss) => void;
}

/** A converted thing and the position of the message it came from. */
export interface Sourced<T> {
  readonly value: T;
  readonly index: number;
}

/** Scope of replay data whose account nobody knows: equal to no provider's, so it is never sent. */
export const IMPORT_SCOPE: ReplayScope = { endpoint: 'import', account: '', model: '' };

/** Reference of bytes that were not kept. */
export function mediaRef(context: ImportContext, base64: string, mediaType: string, name?: string): MediaRef {
  if (context.storeMedia !== undefined) return context.storeMedia(base64, mediaType, name);
  const padding = /=*$/.exec(base64)?.[0].length ?? 0;
  const byteLength = Math.floor((base64.length * 3) / 4) - padding;
  return { sha256: '0'.repeat(64), mediaType, byteLength, ...(name === undefined ? {} : { name }) };
}
