import { type ClientConfigProfile, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { HoldfastError } from '../contract/errors.ts';

/** How to reach Temporal, in the form that clients and workers take. */
interface TemporalConnectionOptions {
  readonly address: string;
  /** `true`: TLS with the system's authorities. */
  readonly tls?: boolean | TemporalTls;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

interface TemporalTls {
  readonly serverNameOverride?: string;
  readonly serverRootCACertificate?: Uint8Array;
  readonly clientCertPair?: { readonly crt: Uint8Array; readonly key: Uint8Array };
}

/** A Temporal server that the user named. */
export interface NamedTemporal {
  readonly connection: TemporalConnectionOptions;
  /** Default `default`. */
  readonly namespace: string;
  readonly address: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_ADDRESS = '127.0.0.1:7233';

/**
 * The server that `TEMPORAL_ADDRESS` and its companions or a profile of Temporal's configuration file name
 * (docs.temporal.io/develop/environment-configuration); `undefined` when the user named none.
 *
 * @throws HoldfastError `ConfigInvalid` for a profile that does not exist, and for files that cannot be read.
 */
export async function connectionFromEnvironment(env: Environment): Promise<NamedTemporal | undefined> {
  const named = profileOf(env);
  if (named.address === undefined && named.apiKey === undefined && !env.TEMPORAL_PROFILE) return undefined;
  const { namespace = 'default', connectionOptions } = optionsOf(named);
  const { tls, apiKey, metadata } = connectionOptions;
  const address = connectionOptions.address ?? DEFAULT_ADDRESS;
  return {
    address,
    namespace,
    connection: {
      address,
      ...(tls === undefined || tls === null ? {} : { tls: tls as boolean | TemporalTls }),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
    },
  };
}

function profileOf(env: Environment): ClientConfigProfile {
  const present = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  try {
    return loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(present) });
  } catch (error) {
    throw invalid(error);
  }
}

/** Reads the certificate files, if any. */
function optionsOf(profile: ClientConfigProfile): ReturnType<typeof toClientOptions> {
  try {
    return toClientOptions(profile);
  } catch (error) {
    throw invalid(error);
  }
}

function invalid(error: unknown): HoldfastError {
  const why = error instanceof Error ? error.message : String(error);
  return new HoldfastError('ConfigInvalid', `Temporal's connection settings cannot be used: ${why}`, {
    cause: error,
    hint: 'Correct TEMPORAL_PROFILE, the TEMPORAL_… variables or the file that TEMPORAL_CONFIG_FILE names.',
  });
}
