import { isPerdureError } from "../../../protocol/errors.ts";
import type { Command, Invocation } from "../command.ts";
import { toleratedConfigError } from "../here.ts";
import { printable } from "../output.ts";

/** Wraps a verb: a mistake in perdure.toml that the verb could do without is printed as a warning when the verb has finished. */
export function withConfigWarning(command: Command): Command {
  return {
    ...command,
    async run(invocation) {
      try {
        const code = await command.run(invocation);
        warn(invocation, "");
        return code;
      } catch (error) {
        if (!isPerdureError(error)) throw error;
        // Without the file the project has no name yet, so the mistake in the file is the reason for the refusal.
        if (error.details?.unnamed === true) throw toleratedConfigError() ?? error;
        warn(invocation, error.message);
        throw error;
      }
    },
  };
}

function warn({ out }: Invocation, alreadyPrinted: string): void {
  const error = toleratedConfigError();
  if (error === null || error.message === alreadyPrinted) return;
  out.note(`perdure: ${printable(error.message)}\n  → ${printable(error.hint ?? "")} (the file was ignored)`);
}
