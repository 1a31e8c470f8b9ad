import { expect, test } from 'vitest';
import { allCases } from './find-case.ts';
import { buildFor } from './runner/transcript-in.ts';

const TARGETS = [
  'openai-chat',
  'anthropic',
  'openai-responses',
  'deepseek',
  'mistral',
  'gemini',
  'qwen',
  'openrouter',
  'ollama',
  'vllm',
  'llama-cpp',
  'azure',
  'openai-compatible',
  'openai-compatible-strict',
  'openai-compatible (bedrock)',
  'anthropic-compatible (deepseek)',
  'openai-responses-compatible (deepseek)',
];

const TRANSCRIPTS = allCases().filter((one) => one.kind === 'transcript-in');

test.each(TARGETS)('every recorded transcript becomes a legal request for %s', async (target) => {
  for (const { id, input } of TRANSCRIPTS) {
    const { broken } = await buildFor(target, { ...input, dialect: undefined });
    expect(broken, id).toEqual([]);
  }
});
