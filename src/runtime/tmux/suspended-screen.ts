import { SUSPENDED_NOTICE_LINES } from "../../limits/index.ts";

/**
 * Tells whether a pane's last lines say that its agent was suspended by Ctrl-Z and waits for `fg`. A pane has no shell to type
 * that in, and no process is stopped: CONT wakes the agent, and does no harm to one that only prints such a line.
 */
export function looksSuspended(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-SUSPENDED_NOTICE_LINES).some((line) => /\bsuspended\b.*\bfg\b/i.test(line));
}
