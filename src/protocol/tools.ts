/** The name under which agents know the daemon's tools. */
export const TOOL_SERVER = "perdure";

/** The names of the tools, in the order in which agents see them. */
export const TOOL_NAMES = ["send", "ask", "reply", "inbox", "list", "whoami", "context_log"] as const;
