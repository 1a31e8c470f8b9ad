import type { ProviderErrorCode } from './errors.ts';

type Ruling = readonly [words: readonly string[], phrases: readonly RegExp[]];

/**
 * Vendors' codes, types and sentences that decide a class whatever the HTTP status says. Words are lower case and compared
 * whole. Overflow and size have tables of their own, see `overflow-phrases`.
 */
export const SPECIFIC: Readonly<
  Record<
    | 'content_filter'
    | 'replay_rejected'
    | 'quota'
    | 'overloaded'
    | 'rate_limit'
    | 'timeout'
    | 'auth'
    | 'permission'
    | 'not_found',
    Ruling
  >
> = {
  content_filter: [
    [
      'content_filter',
      'responsibleaipolicyviolation',
      'content_policy_violation',
      'data_inspection_failed',
      'datainspectionfailed',
      'prompt_blocked',
      'moderation_blocked',
      'image_content_policy_violation',
      '1301',
    ],
    [
      /content management policy/i,
      /content exists risk/i,
      /inappropriate content/i,
      /flagged by (?:our )?moderation|input was flagged/i,
      /内容安全|敏感内容|不安全或敏感/,
      /PROHIBITED_CONTENT/,
    ],
  ],
  replay_rejected: [
    ['invalid_encrypted_content', 'thinking_signature_invalid'],
    [
      /invalid `?signature`? in `?thinking`? block/i,
      /`?(?:redacted_)?thinking`? .{0,40}blocks? .{0,60}cannot be modified/i,
      /expected `?thinking`? or `?redacted_thinking`?/i,
      /encrypted content .{0,60}could not be (?:verified|decrypted)/i,
      /of type 'reasoning' was provided without its required following item/i,
      /was provided without its required 'reasoning' item/i,
      /item with id '?rs_[^']*'? not found/i,
      /missing (?:a )?`?thought_signature`?|thought[ _]signature .{0,24}(?:not valid|invalid|corrupt)|corrupted thought signature/i,
      /reasoning_content.{0,80}(?:must be passed back|is missing|required|not (?:allowed|supported|permitted))|missing `?reasoning_content`?/i,
    ],
  ],
  quota: [
    [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_not_active',
      'billing_error',
      'insufficient_balance',
      'insufficient_user_quota',
      'insufficient_credits',
      'exceeded_current_quota_error',
      'arrearage',
      'allocationquota.freetieronly',
      'payment_required',
      'access_terminated',
      '1113',
      '1008',
    ],
    [
      /credit balance is too low/i,
      /insufficient (?:account )?(?:balance|funds|credits?|quota)/i,
      /requires more credits|can only afford|out of credits|no credits/i,
      /billing (?:hard )?limit|used all available credits|(?:monthly )?spending limit/i,
      /extra usage is required for long context/i,
      /reached your specified (?:api )?usage limits/i,
      /余额不足|欠费|账户.{0,6}不足|额度(?:已)?(?:用尽|不足|耗尽)/,
    ],
  ],
  overloaded: [
    [
      'overloaded_error',
      'overloaded',
      'engine_overloaded',
      'engine_overloaded_error',
      'server_overloaded',
      'model_overloaded',
      'insufficient_system_resource',
      'serviceunavailable',
      'service_unavailable',
      'unavailable',
      'modelnotreadyexception',
    ],
    [
      /\boverloaded\b/i,
      /(?:currently )?at capacity|experiencing high (?:demand|load|traffic)/i,
      /server is busy|服务(?:器)?繁忙/i,
      /model (?:is )?(?:currently )?loading/i,
    ],
  ],
  rate_limit: [
    [
      'rate_limit_error',
      'rate_limit_exceeded',
      'rate_limit_reached_error',
      'too_many_requests',
      'toomanyrequestsexception',
      'resource_exhausted',
      'throttlingexception',
      'throttling',
      'throttling.ratequota',
      'throttling.allocationquota',
      'throttling.burstrate',
      'limit_requests',
      'limit_burst_rate',
      'rate_limited',
      '1302',
      '1303',
      '1305',
      '1002',
    ],
    [
      /rate[ -]?limit (?:reached|exceeded|error)|exceed(?:s|ed)? .{0,30}rate limit/i,
      /too many requests/i,
      /\bthrottl(?:ed|ing)\b/i,
      /请求过于频繁|限流|频率.{0,6}(?:超|限)|并发.{0,6}(?:超|限)/,
    ],
  ],
  timeout: [
    ['timeout', 'timeout_error', 'request_timeout', 'deadline_exceeded', 'modeltimeoutexception'],
    [/(?:request|upstream|gateway|connection) time(?:d)?[ -]?out/i],
  ],
  auth: [
    [
      'authentication_error',
      'invalid_api_key',
      'invalid_authentication_error',
      'unauthenticated',
      'api_key_invalid',
      'invalidapikey',
      'missing_api_key',
      'token_expired',
      'unrecognizedclientexception',
      'expiredtokenexception',
    ],
    [/(?:invalid|incorrect) api[ -]?key|api[ -]?key not valid|no api[ -]?key provided|invalid x-api-key/i],
  ],
  permission: [
    [
      'permission_error',
      'permission_denied',
      'access_denied',
      'accessdenied',
      'accessdeniedexception',
      'unsupported_country_region_territory',
      'forbidden',
    ],
    [/country, region, or territory not supported/i],
  ],
  not_found: [
    [
      'not_found_error',
      'model_not_found',
      'deploymentnotfound',
      'not_found',
      'model_not_exist',
      'modelnotfound',
      'invalid_model',
      'resource_not_found_error',
    ],
    [
      /model .{1,80}(?:does not exist|not found|not exist)/i,
      /no (?:endpoints|allowed providers) (?:are )?(?:found|available)/i,
    ],
  ],
};

/** What the HTTP status says when no word or sentence did. */
export const BY_STATUS: Readonly<Record<number, ProviderErrorCode>> = {
  400: 'invalid_request',
  401: 'auth',
  402: 'quota',
  403: 'permission',
  404: 'not_found',
  408: 'timeout',
  409: 'server_error',
  413: 'request_too_large',
  422: 'invalid_request',
  425: 'server_error',
  429: 'rate_limit',
  500: 'server_error',
  502: 'server_error',
  503: 'overloaded',
  504: 'timeout',
  522: 'timeout',
  524: 'timeout',
  529: 'overloaded',
};

/** Words too general to overrule a status; they decide where there is none (errors inside a stream). */
export const GENERAL: Readonly<Record<string, ProviderErrorCode>> = {
  invalid_request_error: 'invalid_request',
  bad_request_error: 'invalid_request',
  badrequesterror: 'invalid_request',
  bad_request: 'invalid_request',
  invalid_argument: 'invalid_request',
  invalid_parameter_error: 'invalid_request',
  validationexception: 'invalid_request',
  server_error: 'server_error',
  internal_server_error: 'server_error',
  internalservererror: 'server_error',
  internal_error: 'server_error',
  internal: 'server_error',
  api_error: 'server_error',
};
