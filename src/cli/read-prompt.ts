import { text } from 'node:stream/consumers';
import { HoldfastError } from '../contract/errors.ts';

/** The words of the command line; without any, or for `-`, what comes on standard input. `what` names them in the refusal. */
export async function readPrompt(words: readonly string[], what: 'prompt' | 'memory' = 'prompt'): Promise<string> {
  const fromInput = words.length === 0 ? !process.stdin.isTTY : words.length === 1 && words[0] === '-';
  const prompt = fromInput ? await text(process.stdin) : words.join(' ');
  if (prompt.trim() !== '') return prompt;
  throw new HoldfastError('InvalidInput', `the ${what} is empty`, {
    hint: `Write it after the command, as in \`holdfast ${EXAMPLES[what]}\`, or pipe it in.`,
  });
}

const EXAMPLES = {
  prompt: 'run "Where is the retry policy decided?"',
  memory: 'memory add "Answers are in German."',
} as const;
