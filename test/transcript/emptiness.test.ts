import { describe, expect, test } from 'vitest';
import { isEmptyItem } from '../../src/transcript/empty-item.ts';
import type { AssistantMessage, Replay } from '../../src/transcript/items.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { isScoped } from '../../src/transcript/replay-scope.ts';

const response = { id: 'r', provider: 'p', model: 'm', api: 'anthropic' } as const;
const answer = (content: AssistantMessage['content']): AssistantMessage => ({
  kind: 'assistant_message',
  schemaVersion: 1,
  response,
  content,
});

describe('an item that says nothing', () => {
  test('is gone; one that holds an extension alone is not', () => {
    const silent = answer([{ type: 'text', text: '' }]);
    const extended = answer([{ type: 'extension', name: 'citations', data: [1] }]);
    expect([isEmptyItem(silent), isEmptyItem(extended)]).toEqual([true, false]);
    expect(normalize([extended]).items).toEqual([extended]);
  });
});

describe('replay data', () => {
  const data = { signature: 's' };

  test.each([
    [{ endpoint: 'e', account: 'a', model: 'm' }, true],
    [{ endpoint: 'e', account: 'a' }, false],
    [{ model: 'm' }, false],
    [{}, false],
  ])('with the scope %j is scoped: %s', (scope, scoped) => {
    expect(isScoped({ scope, data } as Replay)).toBe(scoped);
  });
});
