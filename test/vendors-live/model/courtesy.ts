/** A harmless answer for everything that is asked besides the model itself: which models there are, how long a text is. */
export function courtesy(path: string): object {
  if (path.endsWith("/count_tokens")) return { input_tokens: 10 };
  if (path.endsWith(":countTokens")) return { totalTokens: 10 };
  if (path.endsWith("/models")) return { object: "list", data: [], models: [] };
  return {};
}
