import type { SessionLocation } from "../../protocol/records/conversation.ts";
import type { MissingVariable } from "../../protocol/records/environment.ts";
import { programVariables, type LaunchSpec } from "./spec.ts";

/** Returns the variables that the program's own settings name and that this start does not have. */
export function missingVariables(
  { vendor, ...spec }: Pick<LaunchSpec, "vendor" | "command" | "environment">,
  { configDir, launchCwd: cwd }: Pick<SessionLocation, "configDir" | "launchCwd">,
): MissingVariable[] {
  if (vendor === null || vendor.noConversation) return [];
  const environment = programVariables(spec, vendor.programAt);
  const named = vendor.adapter.launch.namedVariables?.({ args: vendor.args, cwd, configDir, environment }) ?? [];
  return named.filter(({ name }) => !environment[name]);
}

/** Says what is missing, for whoever starts the worker: the program itself says it when it has been asked something. */
export function missingNote(vendor: string, missing: readonly MissingVariable[]): string {
  const each = missing.map(({ name, namedBy }) => `${name} (${namedBy})`).join(", ");
  return `${vendor} is set to take from the environment what is not there: ${each}`;
}
