import { HoldfastClient } from '../client/holdfast-client.ts';
import { HoldfastError } from '../contract/errors.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { type Settings, storeExists } from './settings.ts';
import { findTemporal, type TemporalAccess } from './temporal-access.ts';

/** Works with a client on the server that there is, and closes it. */
export async function withClient<T>(
  settings: Settings,
  work: (client: HoldfastClient, access: TemporalAccess) => Promise<T>,
): Promise<T> {
  const access = await findTemporal(settings);
  const client = await HoldfastClient.connect({ ...access, store: settings.store });
  try {
    return await work(client, access);
  } finally {
    await client.close();
  }
}

/** A client on the server that there is, for what a server can only add to; `undefined` without one. Close it. */
export async function clientIfThere(settings: Settings): Promise<HoldfastClient | undefined> {
  try {
    const access = await findTemporal(settings);
    return await HoldfastClient.connect({ ...access, store: settings.store });
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'TemporalUnavailable') return undefined;
    throw error;
  }
}

/** Works with the folder's store alone: reading needs no server. @throws HoldfastError `NotFound` when there is none. */
export async function withStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  if (!storeExists(settings)) {
    throw new HoldfastError('NotFound', `there is no store at ${settings.store} yet`, {
      hint: 'Start a first run with `holdfast run "question"`, or name the folder with --folder.',
    });
  }
  const store = await openStore(settings.store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
