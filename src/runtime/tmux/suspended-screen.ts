/** What was typed after it may stand below; nothing an agent draws does. */
const LINES_READ = 8;

/**
 * Whether a pane's last words say that its agent went to sleep at Ctrl-Z and waits for `fg`. In a pane there is no shell to type
 * that in, and no process is stopped: CONT to the agent wakes it, and does no harm to one that only speaks of such things.
 */
export function looksSuspended(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-LINES_READ).some((line) => /\bsuspended\b.*\bfg\b/i.test(line));
}
