import { expect, test } from 'vitest';
import { createOfflineProvider } from '../../../src/providers/offline/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { createProviderRegistry, ModelResolutionError } from '../../../src/providers/registry.ts';

const open: Provider = {
  id: 'openrouter',
  api: 'openai-chat',
  scope: (model) => ({ endpoint: 'https://example.test', account: '', model }),
  wire: () => ({}),
  async *stream() {},
};
const registry = createProviderRegistry({ providers: [createOfflineProvider(), open], default: 'offline/extractive' });

test('a model name is cut at its first slash', () => {
  expect(registry.resolve('openrouter/vendor/some-model:free')).toMatchObject({
    provider: { id: 'openrouter' },
    model: 'vendor/some-model:free',
  });
});

test('no name is the default', () => {
  expect(registry.resolve()).toMatchObject({ model: 'extractive', name: 'offline/extractive' });
});

test.each([
  ['gpt', 'malformed', 'without a prefix nobody is named'],
  ['/x', 'malformed', 'the prefix is empty'],
  ['openrouter/', 'malformed', 'the model is empty'],
  ['acme/x', 'unknown_provider', 'nobody registered that prefix'],
  ['offline/gpt', 'unknown_model', 'the offline provider has a closed list'],
])('%s is %s, because %s', (name, code) => {
  expect(() => registry.resolve(name)).toThrow(
    expect.objectContaining({ name: 'ModelResolutionError', code, model: name }),
  );
});

test('an unknown provider is answered with the names that exist', () => {
  expect(() => registry.resolve('acme/x')).toThrow(/providers: offline, openrouter/);
});

test('without a default no name is an error, and a wrong default is refused when the registry is made', () => {
  expect(() => createProviderRegistry({ providers: [open] }).resolve()).toThrow(ModelResolutionError);
  expect(() => createProviderRegistry({ providers: [open], default: 'offline/extractive' })).toThrow(
    ModelResolutionError,
  );
});

test('two providers under one id are refused', () => {
  expect(() => createProviderRegistry({ providers: [open, open] })).toThrow(TypeError);
});
