import { Client, Connection } from '@temporalio/client';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { type Settings, storeExists } from '../settings.ts';
import { findTemporal, type TemporalAccess } from '../temporal-access.ts';

/** What the checks share: each thing is opened once, when it is first asked for, and tells every asker how that went. */
export class Examination {
  readonly settings: Settings;
  readonly #access: () => Promise<TemporalAccess>;
  readonly #temporal: () => Promise<Client>;
  readonly #store: () => Promise<Store | undefined>;
  #connection: Connection | undefined;
  #openStore: Store | undefined;

  constructor(settings: Settings) {
    this.settings = settings;
    this.#access = once(() => findTemporal(settings));
    this.#temporal = once(async () => {
      const { connection, namespace } = await this.#access();
      this.#connection = await Connection.connect({ connectTimeout: 3000, ...connection });
      return new Client({ connection: this.#connection, namespace });
    });
    this.#store = once(async () => {
      if (!storeExists(settings)) return undefined;
      this.#openStore = await openStore(settings.store);
      return this.#openStore;
    });
  }

  access(): Promise<TemporalAccess> {
    return this.#access();
  }

  temporal(): Promise<Client> {
    return this.#temporal();
  }

  /** `undefined` when there is none yet. */
  store(): Promise<Store | undefined> {
    return this.#store();
  }

  async close(): Promise<void> {
    await this.#openStore?.close();
    await this.#connection?.close();
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
