import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText } from './scripts.ts';

let harness: Harness;
let refuses = false;

beforeAll(async () => {
  harness = await startHarness({
    answer,
    agent: { maxOutputTokens: 300, fallbacks: ['fake/small'] },
    facts: (model) => ({ windowTokens: model === 'fake/small' ? 3000 : 16_000, abilities: {} }),
    compaction: { keepRecentTokens: 400, model: 'fake/scribe' },
  });
});
afterAll(() => harness?.stop());

function answer({ body, ...request }: SeenRequest): FakeAnswer {
  if (body.model === 'script' && refuses) return { status: 401, body: { error: { message: 'no such key' } } };
  if (body.messages[0].content.includes('You write summaries')) {
    return { text: SUMMARY_HEADINGS.map(({ title }) => `## ${title}\nWhat was said in the turns.`).join('\n\n') };
  }
  return { text: `done by ${body.model}: ${lastUserText({ body, ...request }).slice(0, 30)}` };
}

test('a fallback with a smaller window is given a session that the model of the config has summarised', async () => {
  const sessionId = randomUUID();
  const say = async (text: string) => harness.client.result(await harness.client.send({ sessionId, text }));
  for (const turn of ['one', 'two', 'three', 'four']) await say(`turn ${turn} ${'word '.repeat(650)}`);
  refuses = true;
  const { event, runId } = await say('and now?');
  expect(event).toMatchObject({ type: 'final_response', text: 'done by small: and now?' });
  const [checkpoint, ...more] = await harness.store.checkpoints(sessionId);
  expect(checkpoint).toMatchObject({ trigger: 'model_downshift', model: 'fake/scribe' });
  const asked = harness.provider.requests.filter(({ body }) => body.model === 'scribe');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.body.tools).toBeUndefined();
  expect(more).toEqual([]);
  const events = (await harness.store.events(runId)).map((recorded) => recorded.event);
  expect(events).toContainEqual(expect.objectContaining({ type: 'model_fallback', to: 'fake/small' }));
});
