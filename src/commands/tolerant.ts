import { isPerdureError } from "../protocol/errors.ts";
import type { Command } from "./command.ts";
import { ignoredHere } from "./here.ts";
import { printable } from "./output.ts";

/**
 * A perdure.toml with a mistake keeps nobody from looking, stopping and writing: it is told afterwards. Where something was not
 * found, it may be for that mistake, and the mistake is what is told.
 */
export function tolerant(command: Command): Command {
  return {
    ...command,
    async run(invocation) {
      try {
        const code = await command.run(invocation);
        const ignored = ignoredHere();
        if (ignored)
          invocation.out.note(`perdure: ${printable(ignored.message)}\n  → ${ignored.hint}; gone on without it`);
        return code;
      } catch (error) {
        throw isPerdureError(error) && error.code === "not-found" ? (ignoredHere() ?? error) : error;
      }
    },
  };
}
