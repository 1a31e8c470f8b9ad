import { describe, expect, test } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { type BuiltRequest, buildRequest } from '../../src/transcript/build-request.ts';
import type { AgentItem, ReasoningSummary } from '../../src/transcript/items.ts';
import type { ToolSpec } from '../../src/transcript/message.ts';
import { buildView } from '../../src/transcript/view.ts';
import { ResponseItems, user } from '../providers/conversation.ts';
import { answerOf, LLAMA_URL, MODEL, question, slot, tokensOf, WIRES } from './llama-server.ts';

const READ_FILE: ToolSpec = {
  name: 'read_file',
  description: 'The text of a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const PROMPT = 'You look things up in files.';

const thoughts = new Map<string, ReasoningSummary>();

/** Reasoning that this server really gave by this wire, with what it must be replayed with. */
async function thoughtOf(provider: Provider): Promise<ReasoningSummary> {
  const known = thoughts.get(provider.id);
  if (known !== undefined) return known;
  const { items } = await answerOf(provider, question('Which file names the port?', { maxOutputTokens: 16 }));
  const [thought] = items.filter((item) => item.kind === 'reasoning_summary');
  if (thought === undefined) throw new Error('no reasoning came');
  thoughts.set(provider.id, thought);
  return thought;
}

/** Two calls at once after reasoning and text, one of which failed; then a second step with a call alone. */
async function steps(provider: Provider, turn: string): Promise<readonly AgentItem[]> {
  const scope = provider.scope(MODEL);
  const ref = (id: string) => ({ id: `${turn}-${id}`, provider: provider.id, model: MODEL, api: provider.api });
  const thought = await thoughtOf(provider);
  const first = new ResponseItems(ref('r1'), scope)
    .reasoning(thought.text, thought.replay?.data)
    .text(`I read both files (${turn}).`)
    .calls(
      { id: `${turn}_a`, name: 'read_file', args: { path: `${turn}/a.txt` }, output: `${turn}: no such file` },
      { id: `${turn}_b`, name: 'read_file', args: { path: `${turn}/b.txt` }, output: `${turn}: port = 7233 — «ü»` },
    );
  const second = new ResponseItems(ref('r2'), scope).calls({
    id: `${turn}_c`,
    name: 'read_file',
    args: { path: `${turn}/c.txt` },
    output: `${turn}: host = example`,
  });
  return [user(`Which file names the port (${turn})?`), ...first.items.map(firstFailed), ...second.items];
}

/** The same, and the answer. */
async function turn(provider: Provider, name: string): Promise<readonly AgentItem[]> {
  const ref = { id: `${name}-end`, provider: provider.id, model: MODEL, api: provider.api };
  const answer = new ResponseItems(ref, provider.scope(MODEL)).text(`It is b.txt (${name}).`);
  return [...(await steps(provider, name)), ...answer.items];
}

function firstFailed(item: AgentItem): AgentItem {
  if (item.kind !== 'tool_result_batch') return item;
  return { ...item, results: item.results.map((one, nth) => (nth === 0 ? { ...one, status: 'error' as const } : one)) };
}

/** What must stand in the prompt, in this order. */
function told(turn: string, reasoning: string | undefined): readonly string[] {
  return [
    `Which file names the port (${turn})?`,
    ...(reasoning === undefined ? [] : [reasoning]),
    `I read both files (${turn}).`,
    `${turn}/a.txt`,
    `${turn}/b.txt`,
    `${turn}: no such file`,
    `${turn}: port = 7233 — «ü»`,
    `${turn}/c.txt`,
    `${turn}: host = example`,
  ];
}

function requestOf(items: readonly AgentItem[], provider: Provider): BuiltRequest {
  const entries = items.map((item, at) => ({ seq: at + 1, runId: 'run', step: 0, item }));
  const view = buildView({ entries, budget: { budget: 1500 } });
  expect(view.repairs).toEqual([]);
  return buildRequest(
    { prompt: PROMPT, tools: [READ_FILE], maxOutputTokens: 4, temperature: 0, thinking: null, outputSchema: null },
    view,
    {
      model: MODEL,
      scope: provider.scope(MODEL),
      api: provider.api,
      provider: provider.id,
      accepts: { image: false, audio: false, file: false },
      foreignReasoning: 'text',
    },
  );
}

function expectInOrder(prompt: string, pieces: readonly string[]): void {
  let at = 0;
  for (const piece of pieces) {
    const found = prompt.indexOf(piece, at);
    if (found < 0) expect(prompt.slice(at)).toContain(piece);
    at = found + piece.length;
  }
}

describe.skipIf(LLAMA_URL === undefined).each(WIRES)("llama.cpp's server by $api", (provider) => {
  test('takes a step in the middle of its tool loop, and shows the model all of it', async () => {
    const items = await steps(provider, 'one');
    const { request, losses } = requestOf(items, provider);
    expect(losses).toEqual([]);
    const { usage } = await answerOf(provider, request);
    const { prompt } = await slot();
    const thought = items.find((item) => item.kind === 'reasoning_summary')?.text.trim();
    expectInOrder(prompt, [PROMPT, 'read_file', ...told('one', thought)]);
    expect(usage?.inputTokens).toBe(await tokensOf(prompt));
  });

  test('takes later turns: answers, a new question, another loop', async () => {
    const items = [...(await turn(provider, 'one')), ...(await turn(provider, 'two')), user('And now?')];
    await answerOf(provider, requestOf(items, provider).request);
    expectInOrder((await slot()).prompt, [
      ...told('one', undefined),
      'It is b.txt (one).',
      ...told('two', undefined),
      'It is b.txt (two).',
      'And now?',
    ]);
  });

  test('takes a message that came in the middle of a tool loop', async () => {
    await answerOf(provider, requestOf([...(await steps(provider, 'one')), user('Only b.txt!')], provider).request);
    const { prompt } = await slot();
    expect(prompt).toContain('one: host = example');
    // By Messages this server puts words before the results that stand in the same turn.
    expect(prompt).toContain('Only b.txt!');
  });

  test('takes a conversation that every wire had a part in; what other endpoints thought is told as text', async () => {
    const parts: AgentItem[] = [];
    for (const other of WIRES) parts.push(...(await turn(other, other.id)));
    const { request, losses } = requestOf([...parts, user('And now?')], provider);
    const { endpoint } = provider.scope(MODEL);
    const elsewhere = WIRES.filter((other) => other.scope(MODEL).endpoint !== endpoint);
    expect(losses.filter((loss) => loss.what === 'reasoning_to_text')).toHaveLength(elsewhere.length);
    await answerOf(provider, request);
    expectInOrder((await slot()).prompt, [...WIRES.flatMap((other) => told(other.id, undefined)), 'And now?']);
  });
});
