import type { ChatLaws } from './openai-chat.ts';

const REASONING: Partial<ChatLaws> = { reasoningContent: 'allowed' };

/**
 * What servers that speak Chat Completions ask beyond OpenAI's schema, by the vendor's own pages.
 *
 * - deepseek: https://api-docs.deepseek.com/guides/thinking_mode and /guides/reasoning_model (R1)
 * - mistral: https://docs.mistral.ai/api (ids of nine characters; last role user or tool)
 * - gemini: https://ai.google.dev/gemini-api/docs/openai and /thought-signatures (`extra_content`)
 * - openrouter: https://openrouter.ai/docs/use-cases/reasoning-tokens
 * - qwen: https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference
 */
export const DIALECT_LAWS: Readonly<Record<string, Partial<ChatLaws>>> = {
  openai: {},
  azure: {},
  deepseek: { reasoningContent: 'allowed', extraKeys: ['thinking'] },
  'deepseek-thinking': { reasoningContent: 'tool_turns', extraKeys: ['thinking'] },
  'deepseek-r1': { reasoningContent: 'forbidden', alternation: true, noFinalAssistant: true },
  qwen: { ...REASONING, extraKeys: ['enable_thinking', 'thinking_budget', 'chat_template_kwargs'] },
  openrouter: {
    extraKeys: ['reasoning', 'provider', 'usage', 'transforms', 'models', 'route'],
    extraAssistantKeys: ['reasoning', 'reasoning_details'],
  },
  mistral: {
    callId: /^[a-zA-Z0-9]{9}$/,
    extraToolMessageKeys: ['name'],
    extraParts: ['thinking'],
    noFinalAssistant: true,
    extraKeys: ['random_seed', 'safe_prompt', 'prompt_mode'],
  },
  gemini: { noRefs: true, extraCallKeys: ['extra_content'], extraToolMessageKeys: ['name'], extraKeys: ['extra_body'] },
  ollama: { extraAssistantKeys: ['reasoning', 'thinking'], extraKeys: ['think', 'keep_alive', 'options'] },
  vllm: { ...REASONING, extraAssistantKeys: ['reasoning'], extraKeys: ['chat_template_kwargs', 'top_k', 'min_p'] },
  'llama-cpp': { ...REASONING, extraKeys: ['chat_template_kwargs', 'cache_prompt', 'reasoning_format'] },
  // A server gets back what it attached to a call itself.
  generic: { extraCallKeys: ['extra_content'] },
  strict: { alternation: true },
  bedrock: { toolsForHistory: true },
};
