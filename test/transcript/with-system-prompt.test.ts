import { expect, test } from 'vitest';
import type { Message } from '../../src/transcript/message.ts';
import { withSystemPrompt } from '../../src/transcript/with-system-prompt.ts';

const system = (text: string): Message => ({ role: 'system', content: [{ type: 'text', text }] });
const hello: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };

const CASES: readonly {
  readonly prompt: string | undefined;
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  readonly why: string;
}[] = [
  { prompt: undefined, before: [hello], after: [hello], why: 'nothing to do' },
  {
    prompt: undefined,
    before: [system('B'), hello],
    after: [system('B'), hello],
    why: 'adapters map the system messages that are there',
  },
  { prompt: 'A', before: [hello], after: [system('A'), hello], why: 'the prompt stands first' },
  { prompt: 'A', before: [system('B'), hello], after: [system('A'), hello], why: 'the explicit prompt has authority' },
  {
    prompt: 'A',
    before: [system('B1'), hello, system('B2')],
    after: [system('A'), hello],
    why: 'all others go, wherever they stand',
  },
  { prompt: '', before: [system('B'), hello], after: [hello], why: 'empty is explicit, and servers refuse empty text' },
];

test.each(CASES)('prompt $prompt over $before.length messages: $why', ({ prompt, before, after }) => {
  const copy = structuredClone(before);
  expect(withSystemPrompt(before, prompt)).toEqual(after);
  expect(before).toEqual(copy);
});
