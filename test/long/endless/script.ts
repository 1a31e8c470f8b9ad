import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { Asked } from '../../fakes/caching/asked.ts';
import type { ScriptedAnswer } from '../../fakes/caching/scripted.ts';
import { seededRandom } from '../../fakes/random.ts';
import type { Fact } from './facts.ts';
import { prose } from './prose.ts';

/** Characters of each tool output. */
const OUTPUT = 2048;

/** The work of a session: so many parts to be read one after the other, with facts in them. */
export interface Work {
  readonly steps: number;
  readonly facts: readonly Fact[];
}

/**
 * Reads one part: prose, and somewhere in it what was planted there. Parts are named by letters, so that the facts are the
 * only exact names and numbers of the whole session.
 */
export function readPartTool({ facts }: Work): Tool {
  const inOutput = facts.filter(({ place }) => place === 'output');
  return defineTool({
    name: 'read_part',
    description: 'Reads one part of the document and says which it was.',
    input: z.object({ part: z.string(), about: z.string().optional() }),
    annotations: { readOnlyHint: true },
    execute: ({ part }) => {
      const step = numberOf(part);
      const sentences = [...prose(OUTPUT - 60, step)];
      const random = seededRandom(step);
      for (const { text } of inOutput.filter((fact) => fact.step === step)) {
        sentences.splice(Math.floor(random() * sentences.length), 0, `It is recorded under ${text} here.`);
      }
      return `Part ${part} of the document. ${sentences.join(' ')}`;
    },
  });
}

/** What the agent does next: the part after the last one that it was shown, until there is none. */
export function agentAnswer({ steps, facts }: Work, asked: Asked): ScriptedAnswer {
  const next = lastPart(asked) + 1;
  if (next > steps) return { text: 'All parts are read.' };
  const said = facts.filter(({ step }) => step === next);
  const about = said.find(({ place }) => place === 'arguments');
  const spoken = said.filter(({ place }) => place === 'text').map(({ text }) => ` The reference is ${text}.`);
  return {
    text: `On to the next part.${spoken.join('')}`,
    calls: [{ name: 'read_part', args: { part: nameOf(next), ...(about === undefined ? {} : { about: about.text }) } }],
  };
}

/** Number of the last part whose text the request shows; 0 when it shows none. */
export function lastPart({ messages }: Asked): number {
  const shown = messages.findLast((message) => message.role === 'tool' && /^Part [a-z]+ /.test(message.text));
  return numberOf(/^Part ([a-z]+) /.exec(shown?.text ?? '')?.[1] ?? '');
}

/** Parts as letters: a, b, … z, aa, ab, … */
export function nameOf(part: number): string {
  let name = '';
  for (let rest = part; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(97 + ((rest - 1) % 26)) + name;
  return name;
}

function numberOf(name: string): number {
  return [...name].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 96, 0);
}
