import type { ModelOverride } from './catalog.ts';

/** What the makers' own documentation says of whole families; the packages win where they know a model. */
export interface Family {
  /** Matches the model's name without a hub's prefix, in lower case. */
  readonly pattern: RegExp;
  readonly facts: ModelOverride;
}

const CLAUDE = { tools: true, parallelTools: true, images: true, audio: false, files: true, caching: true } as const;
const GPT = { tools: true, parallelTools: true, images: true, audio: false, files: true, caching: true } as const;
const DEEPSEEK = {
  tools: true,
  parallelTools: true,
  images: false,
  audio: false,
  files: false,
  caching: true,
} as const;

/** The first that matches counts. */
export const FAMILIES: readonly Family[] = [
  // https://platform.claude.com/docs/en/about-claude/models/overview
  {
    pattern: /^claude-opus-4-[67]/,
    facts: { windowTokens: 1_000_000, maxOutputTokens: 128_000, abilities: { ...CLAUDE, reasoning: true } },
  },
  {
    pattern: /^claude-(?:opus|sonnet|haiku)-4/,
    facts: { windowTokens: 200_000, abilities: { ...CLAUDE, reasoning: true } },
  },
  { pattern: /^claude-/, facts: { windowTokens: 200_000, abilities: CLAUDE } },
  // https://platform.openai.com/docs/models
  { pattern: /^gpt-5[\d.]*-chat/, facts: { windowTokens: 128_000, maxOutputTokens: 16_384, abilities: GPT } },
  {
    pattern: /^gpt-5/,
    facts: { windowTokens: 400_000, maxOutputTokens: 128_000, abilities: { ...GPT, reasoning: true } },
  },
  {
    pattern: /^gpt-4\.1/,
    facts: { windowTokens: 1_047_576, maxOutputTokens: 32_768, abilities: { ...GPT, reasoning: false } },
  },
  {
    pattern: /^gpt-4o/,
    facts: { windowTokens: 128_000, maxOutputTokens: 16_384, abilities: { ...GPT, reasoning: false } },
  },
  { pattern: /^o[134]/, facts: { abilities: { tools: true, reasoning: true, caching: true } } },
  // https://api-docs.deepseek.com/quick_start/pricing
  { pattern: /^deepseek-reasoner/, facts: { windowTokens: 128_000, abilities: { ...DEEPSEEK, reasoning: true } } },
  { pattern: /^deepseek-/, facts: { windowTokens: 128_000, abilities: DEEPSEEK } },
  // The built-in model: it reads what it is given whole, and costs nothing.
  {
    pattern: /^extractive$/,
    facts: {
      windowTokens: 1_000_000,
      maxOutputTokens: 32_000,
      prices: [{ fromInputTokens: 0, input: 0, output: 0 }],
      abilities: {
        tools: true,
        parallelTools: true,
        images: false,
        audio: false,
        files: false,
        reasoning: false,
        caching: false,
      },
    },
  },
];
