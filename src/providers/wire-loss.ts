/**
 * What of a conversation a wire request does not carry. `reasoning`: thinking without valid replay data for this scope.
 * `media`: bytes that are gone or that the target cannot take. `builtin_tool`: a tool run by another provider, or torn
 * from its other half. `setting`: a wish of the request that contradicts another one.
 */
export type WireLossCode =
  | 'system_block'
  | 'media'
  | 'reasoning'
  | 'builtin_tool'
  | 'extension'
  | 'orphan_result'
  | 'setting';

/** One loss, for the loss report and the log: adapters report, they do not log. */
export interface WireLoss {
  readonly code: WireLossCode;
  /** Index in `MessageRequest.messages`; absent for the request as a whole. */
  readonly message?: number;
  /** One line for people, at most 200 characters. */
  readonly detail: string;
}
