import type { RequestTarget } from '../transcript/build-request.ts';
import type { Catalog } from './catalog.ts';
import type { Provider } from './provider.ts';
import type { ResolvedModel } from './registry.ts';

/** A model that a request can be made for. */
export interface Target extends RequestTarget {
  /** `provider/model`. */
  readonly name: string;
  readonly connection: Provider;
}

/** What a request for the model must look like. Abilities that the catalog does not know count as there: the server will say. */
export function targetOf({ provider, model, name }: ResolvedModel, catalog: Pick<Catalog, 'facts'>): Target {
  const { images = true, audio = true, files = true } = catalog.facts(name).abilities;
  return {
    name,
    model,
    connection: provider,
    scope: provider.scope(model),
    api: provider.api,
    provider: provider.id,
    accepts: { image: images, audio, file: files },
  };
}
