import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { WorkerDetail } from "../../protocol/records/worker.ts";
import { adapterOf, unknownVendor } from "../../vendors/index.ts";
import type { Invocation } from "../shared/command.ts";

export type CommandToRun = Pick<CallParams<"claim">, "command" | "vendor">;

/** Returns the command of `--vendor`: the vendor's program with these arguments, or what a custom one declares; null stands for the stored one. */
export function vendorCommand(
  vendor: string,
  rest: readonly string[] | null,
  values: Invocation["values"],
  stored: WorkerDetail | null,
  name: string,
): CommandToRun {
  const adapter = adapterOf(vendor);
  if (adapter === null) throw unknownVendor(vendor);
  if (rest === null && stored?.vendor === vendor) return { command: null, vendor: null };
  // An adapter without a program of its own takes the whole command, and declared arguments.
  if (adapter.command.length === 0) return declaredCommand(vendor, rest ?? [], values, name);
  const programAt = adapter.command.length - 1;
  return { command: [...adapter.command, ...(rest ?? [])], vendor: { name: vendor, programAt } };
}

function declaredCommand(
  vendor: string,
  rest: readonly string[],
  values: Invocation["values"],
  name: string,
): CommandToRun {
  const [begin, resume] = [declaredArguments(values["new-args"]), declaredArguments(values["resume-args"])];
  if (rest.length === 0 || begin === null || resume === null) {
    const message = `--vendor ${vendor} needs a command, and --new-args and --resume-args with {id} in both.`;
    throw new PerdureError("usage", message, {
      hint: `perdure run ${name} --vendor ${vendor} --new-args='--id {id}' --resume-args='--continue {id}' -- COMMAND`,
    });
  }
  return { command: [...rest], vendor: { name: vendor, programAt: 0, declared: { new: begin, resume } } };
}

/** Splits arguments at spaces; null unless one of them has the placeholder of the id. */
function declaredArguments(text: string | boolean | undefined): string[] | null {
  const words = typeof text === "string" ? text.split(/\s+/).filter(Boolean) : [];
  return words.some((word) => word.includes("{id}")) ? words : null;
}
