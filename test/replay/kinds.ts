import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import type { Harness } from '../integration/harness.ts';
import { lastUserText, turnOf } from '../integration/scripts.ts';

/** The model behind the recorded runs: the user's text is its script. */
export function scriptedModel(request: SeenRequest): FakeAnswer {
  const headings = headingsAskedFor(request);
  if (headings.length > 0) return { text: headings.map((heading) => `${heading}\nWork as agreed.`).join('\n\n') };
  const text = lastUserText(request);
  const turn = turnOf(request);
  if (text === 'grow') return growing(request);
  if (text === 'overflow' && !request.raw.includes('Summary of the conversation so far')) {
    const message =
      "This model's maximum context length is 4000 tokens. However, your messages resulted in 4100 tokens.";
    return {
      status: 400,
      body: { error: { message, code: 'context_length_exceeded', type: 'invalid_request_error' } },
    };
  }
  if (text === 'hang') return { text: 'thinking', hang: true };
  if (text === 'refuse') return { status: 401, body: { error: { message: 'bad key', code: 'invalid_api_key' } } };
  if (text === 'slow tool' && turn === 0)
    return { calls: [0, 1].map((n) => ({ name: 'work', args: { n, sleepMs: 60_000 } })) };
  if (text === 'pause tool' && turn === 0) return { calls: [{ name: 'work', args: { n: 0, sleepMs: 1000 } }] };
  if (turn < Number.parseInt(text, 10)) return { calls: [0, 1].map((n) => ({ name: 'work', args: { n } })) };
  return { text: `done: ${text}` };
}

/** Headings that a request for a summary names, each with a hint of what goes there. */
function headingsAskedFor({ body }: SeenRequest): readonly string[] {
  const messages: { readonly content: unknown }[] = body.messages;
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
  return texts.flatMap((text) => [...text.matchAll(/^(## .+)\n\(.+\)$/gm)].map(([, heading]) => heading ?? ''));
}

/** Large outputs, six times: which time it is stands in the last result, since a compaction takes earlier ones away. */
function growing({ body }: SeenRequest): FakeAnswer {
  const messages: { readonly role: string; readonly content: unknown }[] = body.messages;
  const last = messages.findLast(({ role }) => role === 'tool');
  const n = Number(/result (\d+)/.exec(JSON.stringify(last?.content ?? ''))?.[1] ?? 0);
  if (n >= 12) return { text: 'done: grow' };
  return { calls: [n + 1, n + 2].map((next) => ({ name: 'work', args: { n: next, bytes: 6000 } })) };
}

/** One way that a run goes: drives it to its end. Each leaves one or more executions under `session/<name>`. */
export interface Kind {
  readonly name: string;
  /** A compaction runs as its child. */
  readonly compacts?: true;
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
  { name: 'compacted-by-itself', compacts: true, drive: (harness, id) => plain(harness, id, 'grow') },
  {
    name: 'compacted-when-idle',
    compacts: true,
    async drive(harness, sessionId) {
      for (const turn of ['a', 'b', 'c']) await plain(harness, sessionId, `${turn} ${'word '.repeat(200)}`);
      await harness.client.compact(sessionId);
      await closed(harness, sessionId);
    },
  },
  {
    name: 'compacted-on-overflow',
    compacts: true,
    async drive(harness, sessionId) {
      for (const turn of ['a', 'b', 'c']) await plain(harness, sessionId, `${turn} ${'word '.repeat(200)}`);
      await plain(harness, sessionId, 'overflow');
    },
  },
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
