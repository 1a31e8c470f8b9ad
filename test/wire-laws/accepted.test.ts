import { expect, test } from 'vitest';
import { check as checkAnthropic } from './anthropic.ts';
import { DIALECT_LAWS } from './dialects.ts';
import { check as checkChat } from './openai-chat.ts';
import { check as checkResponses } from './openai-responses.ts';

const SIGNED = { type: 'thinking', thinking: 'Look.', signature: 'EqQBCgIYAhIk' };
const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } };
const FOUND = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
const USER = { role: 'user', content: 'hi' };
const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' };

const claude = (messages: unknown[], more: object = {}) => ({
  model: 'm',
  max_tokens: 4096,
  messages,
  tools: [WEB_SEARCH],
  ...more,
});
const chat = (messages: unknown[], more: object = {}) => ({ model: 'm', messages, ...more });
const responses = (input: unknown[], more: object = {}) => ({ model: 'm', input, ...more });
const say = (...content: unknown[]) => ({ role: 'assistant', content });

/** Shapes that the random requests do not have; each is legal by the vendor's pages, and one small change makes it illegal. */
const PAIRS = [
  {
    why: 'a paused turn ends with an open server tool',
    good: () => checkAnthropic(claude([USER, say({ type: 'text', text: 'Searching.' }, SEARCH)])),
    bad: () => checkAnthropic(claude([USER, say({ type: 'text', text: 'Searching.' }, SEARCH), USER])),
  },
  {
    why: 'a server result may come in the response after a client result',
    good: () =>
      checkAnthropic(
        claude([
          USER,
          say(SEARCH, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
          say(FOUND, { type: 'text', text: 'Noon.' }),
        ]),
      ),
    bad: () => checkAnthropic(claude([USER, say(FOUND, { type: 'text', text: 'Noon.' })])),
  },
  {
    why: 'interleaved and redacted thinking stand before what they led to',
    good: () =>
      checkAnthropic(
        claude([USER, say(SIGNED, { type: 'redacted_thinking', data: 'enc' }, { type: 'text', text: 'x' }), USER]),
      ),
    bad: () =>
      checkAnthropic(
        claude([USER, say(SIGNED, { type: 'redacted_thinking', data: '' }, { type: 'text', text: 'x' }), USER]),
      ),
  },
  {
    why: 'four cache marks, the long one first',
    good: () =>
      checkAnthropic(
        claude([USER], {
          system: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
          ],
        }),
      ),
    bad: () =>
      checkAnthropic(
        claude([USER], {
          system: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } },
          ],
        }),
      ),
  },
  {
    why: 'a compatible endpoint has no signatures',
    good: () =>
      checkAnthropic(claude([USER, say({ ...SIGNED, signature: '' }, { type: 'text', text: 'x' }), USER]), {
        signatures: false,
      }),
    bad: () => checkAnthropic(claude([USER, say({ ...SIGNED, signature: '' }, { type: 'text', text: 'x' }), USER])),
  },
  {
    why: 'older models continue an assistant message, newer ones do not',
    good: () => checkAnthropic(claude([USER, say({ type: 'text', text: 'Roses' })])),
    bad: () => checkAnthropic(claude([USER, say({ type: 'text', text: 'Roses' })]), { prefill: false }),
  },
  {
    why: 'results may hold images',
    good: () =>
      checkAnthropic(
        claude([
          USER,
          say({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'toolu_1',
                content: [{ type: 'image', source: { type: 'url', url: 'https://e.x/a.png' } }],
              },
            ],
          },
        ]),
      ),
    bad: () =>
      checkAnthropic(
        claude([
          USER,
          say({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'toolu_1',
                content: [{ type: 'image_url', image_url: { url: 'https://e.x/a.png' } }],
              },
            ],
          },
        ]),
      ),
  },
  {
    why: 'a strict schema closes every object and requires every property',
    good: () => checkChat(chat([USER], strictTool({ additionalProperties: false, required: ['a'] }))),
    bad: () => checkChat(chat([USER], strictTool({ required: ['a'] }))),
  },
  {
    why: 'a refusal may stand for content',
    good: () => checkChat(chat([USER, { role: 'assistant', content: null, refusal: 'no' }, USER])),
    bad: () => checkChat(chat([USER, { role: 'assistant', content: null, refusal: null }, USER])),
  },
  {
    why: 'Gemini gets its thought signature back in the call and no references in schemas',
    good: () => checkChat(chat([USER, ...geminiCall()]), DIALECT_LAWS.gemini),
    bad: () => checkChat(chat([USER, ...geminiCall()])),
  },
  {
    why: 'a chat template that wants turns takes results between assistant messages',
    good: () =>
      checkChat(chat([{ role: 'system', content: 'S' }, USER, ...geminiCall().map(({ ...m }) => m)]), {
        ...DIALECT_LAWS.strict,
        extraCallKeys: ['extra_content'],
      }),
    bad: () => checkChat(chat([USER, { role: 'system', content: 'S' }, USER]), DIALECT_LAWS.strict),
  },
  {
    why: 'Mistral ends with a user or a tool',
    good: () => checkChat(chat([USER]), DIALECT_LAWS.mistral),
    bad: () => checkChat(chat([USER, { role: 'assistant', content: 'x' }]), DIALECT_LAWS.mistral),
  },
  {
    why: 'custom calls pair with custom outputs, built-in calls with nothing',
    good: () =>
      checkResponses(
        responses([
          USER,
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
          { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_p', name: 'apply_patch', input: '***' },
          { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' },
        ]),
      ),
    bad: () =>
      checkResponses(
        responses([
          USER,
          { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_p', name: 'apply_patch', input: '***' },
          { type: 'function_call_output', call_id: 'call_p', output: 'ok' },
        ]),
      ),
  },
  {
    why: 'a reasoning model wants the reasoning item before each item with an id',
    good: () =>
      checkResponses(
        responses([
          USER,
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: '' },
        ]),
        { reasoningModel: true },
      ),
    bad: () =>
      checkResponses(
        responses([
          USER,
          { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: '' },
        ]),
        { reasoningModel: true },
      ),
  },
  {
    why: 'another vendor takes reasoning as plain text',
    good: () =>
      checkResponses(
        {
          ...responses([
            USER,
            { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'two' }] },
            { role: 'assistant', content: 'x' },
          ]),
          store: false,
        },
        { plainReasoning: true },
      ).filter((rule) => !rule.startsWith('include')),
    bad: () =>
      checkResponses({
        ...responses([
          USER,
          { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'two' }] },
          { role: 'assistant', content: 'x' },
        ]),
        store: false,
      }),
  },
] as const;

function strictTool(more: object): object {
  const parameters = { type: 'object', properties: { a: { type: 'string' } }, ...more };
  return { tools: [{ type: 'function', function: { name: 'f', parameters, strict: true } }] };
}

function geminiCall(): object[] {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    extra_content: { google: { thought_signature: 'sig' } },
  };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
  ];
}

test.each(PAIRS)('$why', ({ good, bad }) => {
  expect(good()).toEqual([]);
  expect(bad()).not.toEqual([]);
});
