import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { buildFor } from './runner/transcript-in.ts';
import { partsOf } from './runner/wire-reader.ts';

describe('d-12: thinking without a real signature', () => {
  const { input } = findCase('d-12-anthropic-shaped-deepseek-thinking');

  test('goes back as received to the endpoint that made it', async () => {
    const { request, broken } = await buildFor('anthropic-compatible (deepseek)', input);
    expect(broken).toEqual([]);
    expect(partsOf(request, 'reasoning').map((part) => part.raw)).toEqual([
      { type: 'thinking', thinking: 'plan', signature: '' },
    ]);
  });

  test('is dropped by Anthropic itself', async () => {
    const { request, broken } = await buildFor('anthropic', input);
    expect(broken).toEqual([]);
    expect(partsOf(request, 'reasoning')).toEqual([]);
  });
});
