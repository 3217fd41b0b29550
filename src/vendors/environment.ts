/** Of one process or one conversation: recorded, they would speak of one that is long gone. */
export const VENDOR_SESSION_VARIABLES: readonly RegExp[] = [
  /_(PID|SESSION_ID|SESSION_NAME|THREAD_ID|LOADER_PID|LAUNCHER_PID|ENV_FILE|CHILD_SESSION|SESSION_ATTENDED|TOOL_CALL_ID)$/,
  /_MESSAGING_(SOCKET|TOKEN)$/,
  /^PI_INTERCOM_/,
];

/** Keys, endpoints and config dirs of the vendors' programs: a worker started later needs them as much as now. */
export const VENDOR_VARIABLES: readonly RegExp[] = [
  /^(ANTHROPIC|CLAUDE|OPENAI|CODEX|GEMINI|GOOGLE|COPILOT|CURSOR|PI|OPENCODE|QWEN|DASHSCOPE|OPENROUTER|DEEPSEEK)_[A-Z0-9_]+$/,
  /^PERDURE_SCRIPTED_HOME$/,
  /^(GH_TOKEN|GITHUB_TOKEN|XAI_API_KEY|MISTRAL_API_KEY|GROQ_API_KEY)$/,
  /^(AWS_PROFILE|AWS_REGION|VERTEXAI_[A-Z_]+)$/,
];
