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

/** Reasoning that this server really gave by this wire, with what it must be replayed with. */
async function thoughtOf(provider: Provider): Promise<ReasoningSummary> {
  const { items } = await answerOf(provider, question('Which file names the port?'));
  const [thought] = items.filter((item) => item.kind === 'reasoning_summary');
  if (thought === undefined) throw new Error('no reasoning came');
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
    const ref = { id: 'end', provider: provider.id, model: MODEL, api: provider.api };
    const answer = new ResponseItems(ref, provider.scope(MODEL)).text('It is b.txt.').items;
    const items = [...(await steps(provider, 'one')), ...answer, ...(await steps(provider, 'two'))];
    await answerOf(provider, requestOf([...items, user('And now?')], provider).request);
    expectInOrder((await slot()).prompt, [
      ...told('one', undefined),
      'It is b.txt.',
      ...told('two', undefined),
      'And now?',
    ]);
  });

  test('takes a conversation that every wire had a part in; what others thought is told as text', async () => {
    const parts: AgentItem[] = [];
    for (const other of WIRES) parts.push(...(await steps(other, other.id)));
    const { request, losses } = requestOf(parts, provider);
    expect(losses.filter((loss) => loss.what === 'reasoning_to_text')).toHaveLength(WIRES.length - 1);
    await answerOf(provider, request);
    expectInOrder(
      (await slot()).prompt,
      WIRES.flatMap((other) => told(other.id, undefined)),
    );
  });
});
