import { rebuildRequest } from '../../client/rebuild-request.ts';
import { buildProviders } from '../../config/build-providers.ts';
import { modelOverrides } from '../../config/model-overrides.ts';
import { loadCatalog } from '../../providers/catalog.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** Prints the body of the request that a run made at a step, byte for byte, and a line end. */
export function showRequest(settings: Settings, runId: string, step: number): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const providers = await buildProviders(settings.config, process.env, 'offline/extractive');
    const catalog = await loadCatalog({ overrides: modelOverrides(settings.config) });
    const body = await rebuildRequest({ store, providers, catalog }, runId, step);
    process.stdout.write(`${body}\n`);
    return EXIT.ok;
  });
}
