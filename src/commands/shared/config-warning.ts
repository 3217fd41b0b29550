import { isPerdureError } from "../../protocol/errors.ts";
import type { Command, Invocation } from "./command.ts";
import { ignoredHere } from "./here.ts";
import { printable } from "./output.ts";

/** A perdure.toml with a mistake keeps nobody from looking, stopping and writing: it is told afterwards. */
export function withConfigWarning(command: Command): Command {
  return {
    ...command,
    async run(invocation) {
      try {
        const code = await command.run(invocation);
        tell(invocation, "");
        return code;
      } catch (error) {
        if (!isPerdureError(error)) throw error;
        if (error.details?.unnamed === true) throw ignoredHere() ?? error;
        tell(invocation, error.message);
        throw error;
      }
    },
  };
}

function tell({ out }: Invocation, known: string): void {
  const ignored = ignoredHere();
  if (ignored === null || ignored.message === known) return;
  out.note(`perdure: ${printable(ignored.message)}\n  → ${printable(ignored.hint ?? "")}; gone on without it`);
}
