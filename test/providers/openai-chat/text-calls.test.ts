import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIALECTS } from '../../../src/providers/openai-chat/dialects.ts';
import { chunk } from './fake-server.ts';
import { readChunks, saying, TOOLS } from './read.ts';

const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) };
const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } };

/** One call of each form in which models leak them, and what they said around it. */
const LEAKS: readonly (readonly [form: string, text: string, said?: string])[] = [
  ['Hermes', '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'],
  [
    'Hermes after empty thinking',
    '<think>\n\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
  ],
  ['Hermes without its end', 'Sure.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}', 'Sure.\n'],
  ['Hermes, arguments as text', '<tool_call>{"name":"get_weather","arguments":"{\\"city\\":\\"Oslo\\"}"}</tool_call>'],
  ['Hermes, parameters', '<tool_call>{"name":"get_weather","parameters":{"city":"Oslo"}}</tool_call>'],
  [
    'Qwen-coder',
    '<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>',
  ],
  [
    'Qwen-coder, bare',
    'Looking.\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>',
    'Looking.\n',
  ],
  ['Llama 3.1', '<function=get_weather>{"city": "Oslo"}</function>'],
  ['Llama 3', '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}'],
  ['GLM', '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>'],
  [
    'DSML',
    'Let me look.\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    'Let me look.\n',
  ],
  [
    'DSML, older',
    '<｜DSML｜function_calls><｜DSML｜invoke name="get_weather"><｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
  ],
  [
    'DeepSeek V3.1',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    'DeepSeek R1',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city":"Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  [
    'MiniMax',
    '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</minimax:tool_call>',
  ],
  [
    'invoke tags',
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>',
  ],
  ['Harmony', '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo"}<|call|>'],
  [
    'Harmony after thinking',
    '<|channel|>analysis<|message|>Need weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}<|call|>',
  ],
  [
    'Harmony, name first',
    '<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city":"Oslo"}<|call|>',
  ],
  ['Harmony, stripped', 'commentary to=functions.get_weather json{"city":"Oslo"}'],
  ['Mistral', '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]'],
  [
    'DSML with plain bars',
    '<|DSML|tool_calls><|DSML|invoke name="get_weather"><|DSML|parameter name="city" string="true">Oslo</|DSML|parameter></|DSML|invoke></|DSML|tool_calls>',
  ],
  ['Mistral, text behind', '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}] [done]', ' [done]'],
  ['Mistral, newer', '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}'],
  ['bare JSON', '{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
];

test.each(LEAKS.map((row) => ({ form: row[0], row })))(
  '$form: the call is recovered and no markup is shown',
  ({ row }) => {
    const [, text, said = ''] = row;
    const { calls, text: shown, stopReason } = readChunks(saying(text));
    expect(calls).toMatchObject([OSLO]);
    expect(shown.trim()).toBe(said.trim());
    expect(stopReason.unified).toBe('tool_calls');
  },
);

test('wherever a leak is cut into deltas, it is the same, and nothing of it is shown on the way', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LEAKS), fc.array(fc.nat(), { maxLength: 6 }), ([, text, said = ''], cuts) => {
      const places = [...new Set(cuts.map((at) => at % text.length))].sort((a, b) => a - b);
      const pieces = [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length));
      const { calls, events } = readChunks(saying(...pieces));
      expect(calls).toMatchObject([OSLO]);
      const shown = events.map((e) => (e.type === 'text_delta' ? e.text : '')).join('');
      expect(shown.trim()).toBe(said.trim());
    }),
    RUNS,
  );
});

/** Texts in which nothing is a call. They come out as they are. */
const PROSE: readonly (readonly [why: string, text: string])[] = [
  [
    'a fence',
    'It looks like this:\n```\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>\n```\nThat is all.',
  ],
  ['a fence of tildes', '~~~xml\n<function=get_weather>{}</function>\n~~~'],
  ['inline code', 'Write `<tool_call>{"name":"get_weather","arguments":{}}</tool_call>` for a call.'],
  ['a tool that was not offered', '<tool_call>{"name": "rm_rf", "arguments": {}}</tool_call>'],
  ['an opener that opens nothing', 'A tag <tool_call> is used; a < b, [TOOL_CALLS] too.'],
  ['half an opener at the end', 'compare a <tool'],
  ['prose about a channel', 'Give commentary to=functions.get_weather json{} as an example.'],
  ['an answer in JSON', '{"city": "Oslo", "temperature": 3}'],
  ['an answer in JSON with a name', '{"name": "Oslo", "population": 700000}'],
  ['JSON that calls, followed by words', '{"name": "get_weather", "arguments": {}} is what I would send.'],
  [
    'an example further on, in a fence',
    'Use <function_calls> like this:\n```\n<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>\n```',
  ],
  [
    'tokens further on, in a fence',
    'The token <|tool_calls_section_begin|> begins:\n```\n<|tool_call_begin|>get_weather<|tool_call_argument_begin|>{}<|tool_call_end|>\n```',
  ],
  ['HTML', '<b>bold</b> and <think> in the middle</think>.'],
];

test.each(PROSE)('%s is text', (_, text) => {
  const { calls, text: shown, stopReason } = readChunks(saying(text));
  expect([calls, shown, stopReason.unified]).toEqual([[], text, 'stop']);
});

test('text stays the same however it is cut', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PROSE), fc.array(fc.nat(), { maxLength: 6 }), ([, text], cuts) => {
      const places = [...new Set(cuts.map((at) => at % text.length))].sort((a, b) => a - b);
      const { calls, text: shown } = readChunks(
        saying(...[0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length))),
      );
      expect([calls, shown]).toEqual([[], text]);
    }),
    RUNS,
  );
});

test('plain text is not held back', () => {
  const { events } = readChunks(saying('One ', 'two ', 'three.'));
  expect(events.filter((e) => e.type === 'text_delta').map((e) => e.text)).toEqual(['One ', 'two ', 'three.']);
});

test('an answer in JSON streams as soon as its first key is no key of a call', () => {
  const { events } = readChunks(saying('{"ans', 'wer": ', '42}'));
  expect(events.filter((e) => e.type === 'text_delta').map((e) => e.text)).toEqual(['{"ans', 'wer": ', '42}']);
});

test('several leaked calls in a row are several calls', () => {
  const one = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>';
  expect(readChunks(saying(`${one}\n${one}`)).calls).toMatchObject([OSLO, OSLO]);
});

test('a value with angle brackets and line breaks comes through; types are those of the schema', () => {
  const text =
    '<tool_call>\n<function=run_command>\n<parameter=command>\nif [ 1 -lt 2 ]; then\necho "a<b"\nfi\n</parameter>\n<parameter=timeout>\n30\n</parameter>\n</function>\n</tool_call>';
  expect(readChunks(saying(text)).calls).toMatchObject([
    { name: 'run_command', arguments: { command: 'if [ 1 -lt 2 ]; then\necho "a<b"\nfi', timeout: 30 } },
  ]);
});

test('a leaked call that was cut is never run', () => {
  const cut = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os';
  const atLimit = readChunks([chunk({ content: cut }), chunk({}, 'length')]);
  expect([atLimit.calls, atLimit.stopReason.unified, atLimit.discardedCalls]).toEqual([[], 'length', ['get_weather']]);
  const atStop = readChunks(saying(cut));
  expect(atStop.calls).toMatchObject([{ name: 'get_weather', argumentsError: expect.any(String) }]);
});

test('markup beside a call in its own field is no second call', () => {
  const { calls } = readChunks([
    chunk({ content: '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }] }),
    chunk({}, 'tool_calls'),
  ]);
  expect(calls).toHaveLength(1);
});

test('a call that stands in the thinking of an otherwise empty answer is recovered', () => {
  const { calls } = readChunks([
    chunk({
      reasoning_content: 'I need it.\n<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>',
    }),
    chunk({}, 'stop'),
  ]);
  expect(calls).toMatchObject([OSLO]);
});

test('where the dialect does not recover calls, text is text', () => {
  const text = '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>';
  const { calls, text: shown } = readChunks(saying(text), { dialect: DIALECTS.openai });
  expect([calls, shown]).toEqual([[], text]);
});

test('thinking in tags is thinking, streamed, and never text', () => {
  const { text, reasoning, events } = readChunks(saying('<thi', 'nk>Let me', ' see</th', 'ink>\n\nFour', '.'), {
    tools: TOOLS,
  });
  expect([text, reasoning]).toEqual(['Four.', 'Let me see']);
  expect(events.filter((e) => e.type === 'reasoning_delta').map((e) => e.text)).toEqual(['Let me', ' see']);
});
