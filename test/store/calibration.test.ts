import { describe, expect, test } from 'vitest';
import { assistantItem, Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: what was learnt about estimates', ({ make }) => {
  test('the factor of a model is kept with the step that taught it, once', async () => {
    const store = await make();
    expect(await store.calibration('offline/echo')).toBeUndefined();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [assistantItem('a')], { calibration: { model: 'offline/echo', factor: 1.25 } });
    expect(await store.calibration('offline/echo')).toBe(1.25);
    await run.begin(1);
    await run.commit(1, [assistantItem('b')], { calibration: { model: 'offline/echo', factor: 1.5 } });
    await run.commit(1, [assistantItem('late')], { calibration: { model: 'offline/echo', factor: 9 } });
    expect(await store.calibration('offline/echo')).toBe(1.5);
    expect(await store.calibration('offline/other')).toBeUndefined();
  });
});
