import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';
import { type Running, Workspace } from './workspace.ts';

/** A model that would talk for minutes, and a folder whose runs ask it. */
export interface SlowModel {
  readonly provider: FakeProvider;
  readonly workspace: Workspace;
  /** Starts a run in the session `s`; resolves once its answer is just being written. */
  streaming(): Promise<Running>;
  stop(): Promise<void>;
}

export async function startSlowModel(): Promise<SlowModel> {
  const provider = await startFakeProvider(() => ({ text: Array(8000).fill('word '), chunkDelayMs: 50 }));
  const workspace = new Workspace({
    HOLDFAST_MODEL: 'openai/m',
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: provider.baseURL,
  });
  return {
    provider,
    workspace,
    async streaming() {
      const running = workspace.start(['run', '--session', 's', '--output', 'ndjson', 'Talk.']);
      await running.printed('assistant_text_delta');
      return running;
    },
    async stop() {
      workspace.dispose();
      await provider.close();
    },
  };
}
