import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import type { Harness } from '../integration/harness.ts';
import { lastUserText, turnOf } from '../integration/scripts.ts';

/** The model behind the recorded runs: the user's text is its script. */
export function scriptedModel(request: SeenRequest): FakeAnswer {
  const text = lastUserText(request);
  const turn = turnOf(request);
  if (text === 'hang') return { text: 'thinking', hang: true };
  if (text === 'refuse') return { status: 401, body: { error: { message: 'bad key', code: 'invalid_api_key' } } };
  if (text === 'slow tool' && turn === 0)
    return { calls: [0, 1].map((n) => ({ name: 'work', args: { n, sleepMs: 60_000 } })) };
  if (text === 'pause tool' && turn === 0) return { calls: [{ name: 'work', args: { n: 0, sleepMs: 1000 } }] };
  if (turn < Number.parseInt(text, 10)) return { calls: [0, 1].map((n) => ({ name: 'work', args: { n } })) };
  return { text: `done: ${text}` };
}

/** One way that a run goes: drives it to its end. Each leaves one or more executions under `session/<name>`. */
export interface Kind {
  readonly name: string;
  readonly drive: (harness: Harness, sessionId: string) => Promise<void>;
}

const activity = async (harness: Harness, sessionId: string, text: string): Promise<void> => {
  for (;;) {
    const status = await harness.client.status(sessionId).catch(() => undefined);
    if (status?.activity.includes(text) === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const closed = async ({ client }: Harness, sessionId: string): Promise<void> => {
  await client.temporal.workflow
    .getHandle(`session/${sessionId}`)
    .result()
    .catch(() => undefined);
};

async function plain(harness: Harness, sessionId: string, text: string, more: { agent?: string } = {}): Promise<void> {
  await harness.client.result(await harness.client.send({ sessionId, text, ...more }));
  await closed(harness, sessionId);
}

export const KINDS: readonly Kind[] = [
  { name: 'answered', drive: (harness, id) => plain(harness, id, 'hello') },
  { name: 'with-tools', drive: (harness, id) => plain(harness, id, '3 steps') },
  { name: 'continued-as-new', drive: (harness, id) => plain(harness, id, '9 steps') },
  { name: 'too-many-steps', drive: (harness, id) => plain(harness, id, '99 steps') },
  { name: 'provider-refused', drive: (harness, id) => plain(harness, id, 'refuse') },
  { name: 'unknown-agent', drive: (harness, id) => plain(harness, id, 'hello', { agent: 'nobody' }) },
  {
    name: 'started-by-hand',
    async drive({ client }, sessionId) {
      const options = {
        taskQueue: 'holdfast',
        workflowId: `session/${sessionId}`,
        args: [{ sessionId, prompt: '1 step' }],
      };
      await client.temporal.workflow.execute('agentRun', options);
    },
  },
  {
    name: 'queued-behind',
    async drive(harness, sessionId) {
      const sent = await Promise.all(
        ['pause tool', '1 step', 'hello'].map((text) => harness.client.send({ sessionId, text })),
      );
      await Promise.all(sent.map((message) => harness.client.result(message)));
      await closed(harness, sessionId);
    },
  },
  {
    name: 'steered',
    async drive(harness, sessionId) {
      const first = await harness.client.send({ sessionId, text: 'pause tool' });
      await activity(harness, sessionId, 'running');
      await harness.client.send({ sessionId, text: 'hello', mode: 'steer' });
      await harness.client.result(first);
      await closed(harness, sessionId);
    },
  },
  {
    name: 'cancelled-while-streaming',
    async drive(harness, sessionId) {
      await harness.client.send({ sessionId, text: 'hang' });
      await activity(harness, sessionId, 'waiting');
      await harness.client.cancel(sessionId, 'enough');
      await closed(harness, sessionId);
    },
  },
  {
    name: 'cancelled-natively-in-tools',
    async drive(harness, sessionId) {
      await harness.client.send({ sessionId, text: 'slow tool' });
      await activity(harness, sessionId, 'running');
      await harness.client.temporal.workflow.getHandle(`session/${sessionId}`).cancel();
      await closed(harness, sessionId);
    },
  },
];
