import type { ProviderErrorCode, Remedy } from '../../../src/providers/errors.ts';
import type { Obj } from './case-file.ts';
import type { WireApi } from './target.ts';

/** One call as seen in an answer, in the words of the case notation. */
interface SeenCall {
  /** The provider's id, as received. */
  readonly id: string;
  /** Our id. */
  readonly callId: string;
  readonly name: string;
  readonly args: unknown;
}

/** A failed model call, as the product reports it. */
export interface SeenError {
  readonly class: ProviderErrorCode;
  readonly retryable: boolean;
  readonly remedy: Remedy;
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly limit?: number;
  readonly requested?: number;
  readonly input?: number;
  readonly output?: number;
}

/** A request body together with the format it is in. */
export interface SeenRequest {
  readonly api: WireApi;
  readonly body: Obj;
}

/** A tool result as the model is shown it. */
export interface SeenResult {
  readonly callId: string;
  readonly name: string;
  readonly status: string;
  readonly text: string;
}

/**
 * What a case's run showed. Each kind of case fills what it can see; a check of something that nobody saw fails.
 */
export interface Observation {
  readonly finish?: string;
  readonly rawFinish?: string | null;
  readonly text?: string;
  readonly partialText?: string;
  readonly refusal?: string;
  readonly reasoning?: string;
  readonly calls?: readonly SeenCall[];
  /** `null`: unknown. */
  readonly usage?: Readonly<Record<string, number>> | null;
  readonly flagged?: readonly string[];
  /** `null`: the call succeeded. */
  readonly error?: SeenError | null;
  /** What a person is shown of a refusal. */
  readonly explanation?: string;
  readonly signals?: readonly string[];
  /** Requests that reached the server, or bodies that were built. */
  readonly requests?: readonly SeenRequest[];
  /** The request that would follow, when the runner had to build it itself. */
  readonly next?: SeenRequest | undefined;
  readonly executed?: readonly { readonly name: string; readonly args: unknown }[];
  readonly results?: readonly SeenResult[];
  readonly finalText?: string;
  /** Whether the run came to an end of its own. */
  readonly ended?: boolean;
  /** Bytes of the largest activity result of a step. */
  readonly largestStepOutput?: number;
  /** Tokens of the next request by the product's estimator, and the window it must fit. */
  readonly nextRequestTokens?: number;
  readonly window?: number;
  /** Schemas and names as sent. */
  readonly schemas?: readonly Obj[];
  readonly names?: readonly string[];
  readonly tokens?: number;
  readonly compactions?: number;
  readonly summaryItems?: number;
  readonly historyUnchanged?: boolean;
  readonly compactionBeforeNextRequest?: boolean;
  readonly unhandledRejections?: number;
  readonly prototypeUntouched?: boolean;
  /** Texts of the transcript, for telling joined messages apart. */
  readonly userTexts?: readonly string[];
  readonly systemText?: string;
  /** Separate runs, in the order of `check.variants`; and one more, for `variant_error`. */
  readonly variants?: readonly Observation[];
  readonly variant?: Observation;
  /** Further forms of the same input, each to be judged like this one. */
  readonly sameAs?: readonly Observation[];
  /** Broken rules of the wire format, when a request was built: always a failure, whatever the check asks. */
  readonly broken?: readonly string[];
}
