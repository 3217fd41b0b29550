/**
 * Keys and endpoints of model providers, for the programs that take whichever their user has: they are nobody's own.
 */
export const MODEL_PROVIDER_VARIABLE =
  /^((ANTHROPIC|OPENAI|OPENROUTER|DEEPSEEK)_[A-Z0-9_]+|(XAI|MISTRAL|GROQ)_API_KEY|AWS_PROFILE|AWS_REGION|VERTEXAI_[A-Z_]+)$/;
