/**
 * A tool that must not run twice may or may not have done what it was asked: a connection broke, a deadline passed far
 * away. Thrown inside a tool it becomes a result of status `unknown_outcome`; the message is what the model is shown.
 */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome';
}
