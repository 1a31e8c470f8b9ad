/** An error that a server reported inside a stream that had begun well. The adapter classifies its body; nobody else sees it. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure';
  readonly body: unknown;

  constructor(body: unknown) {
    super('the server reported an error inside the stream');
    this.body = body;
  }
}
