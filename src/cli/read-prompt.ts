import { text } from 'node:stream/consumers';
import { HoldfastError } from '../contract/errors.ts';

/** The words of the command line; without any, or for `-`, what comes on standard input. */
export async function readPrompt(words: readonly string[]): Promise<string> {
  const fromInput = words.length === 0 ? !process.stdin.isTTY : words.length === 1 && words[0] === '-';
  const prompt = fromInput ? await text(process.stdin) : words.join(' ');
  if (prompt.trim() !== '') return prompt;
  throw new HoldfastError('InvalidInput', 'the prompt is empty', {
    hint: 'Write it after the command, as in `holdfast run "Where is the retry policy decided?"`, or pipe it in.',
  });
}
