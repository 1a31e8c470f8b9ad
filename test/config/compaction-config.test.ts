import { expect, test } from 'vitest';
import { compactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../src/compaction/config.ts';

test('without settings everything has its default', () => {
  expect(compactionConfig(undefined)).toEqual({
    enabled: true,
    autoEnabled: true,
    triggerRatio: 0.85,
    hardRatio: 0.95,
    reserveTokens: 2000,
    keepRecentTokens: 12_000,
    maxHistoryTurns: null,
    keepRecentMessages: 10,
    compactThinking: false,
    maxMediaBytes: 18_000_000,
    model: null,
  });
});

test('later layers win key by key, and what is undefined leaves the earlier one', () => {
  const common = { triggerRatio: 0.5, model: 'a/b', keepRecentTokens: 0 };
  expect(compactionConfig(common, { triggerRatio: undefined, model: 'c/d', enabled: false })).toEqual({
    ...DEFAULT_COMPACTION_CONFIG,
    triggerRatio: 0.5,
    keepRecentTokens: 0,
    model: 'c/d',
    enabled: false,
  });
});
