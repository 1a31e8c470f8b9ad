import { expect, test } from 'vitest';
import { createWireReader } from '../../../src/providers/anthropic/from-wire.ts';
import { ALL_CUTS, rechunk, truncate } from '../cuts.ts';
import { sse } from '../wire-server.ts';
import { RICH } from './recorded.ts';

const FORMAT = { reader: createWireReader };

test('a stream cut anywhere into pieces, in any dress, gives the same items', async () => {
  const { cuts, wrong } = await rechunk(FORMAT, sse(RICH));
  console.log(`anthropic: ${cuts} ways of cutting a stream into pieces`);
  expect(wrong).toEqual([]);
  expect(cuts).toBeGreaterThan(ALL_CUTS ? 10_000 : 1500);
});

test('a stream cut off anywhere before its end is broken, never an answer', async () => {
  const { cuts, wrong } = await truncate(FORMAT, sse(RICH));
  console.log(`anthropic: ${cuts} places where a stream was cut off`);
  expect(wrong).toEqual([]);
  expect(cuts).toBeGreaterThan(ALL_CUTS ? 5000 : 1000);
});
