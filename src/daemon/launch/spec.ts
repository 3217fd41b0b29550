import { resolve } from "node:path";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import type { Declared, Variables } from "../../protocol/records/conversation.ts";
import { realPath } from "../../state/paths.ts";
import { setLaunch, type StoredLaunch, type Worker } from "../../store/workers.ts";
import { adapterOf, unknownVendor, type Adapter } from "../../vendors/index.ts";
import type { BaseServices, ChangeServices } from "../base-services.ts";

/** The program that a claim starts, given by the call or stored from the last start. */
export interface LaunchSpec {
  command: string[];
  cwd: string;
  /** The variables of this start, with those that the worker's entry of the fleet file sets. */
  environment: Record<string, string>;
  /** The environment as it is recorded for later starts. */
  given: Pick<ClaimInput, "environment" | "scope" | "own">;
  vendor: VendorSpec | null;
  /** The first prompt of a conversation that this start begins; it is not stored. */
  prompt: string | null;
}

export interface VendorSpec {
  adapter: Adapter;
  programAt: number;
  args: string[];
  noConversation: boolean;
  /** The arguments that the operator declared for a program without an adapter of its own. */
  declared: Declared | null;
}

export type ClaimInput = Pick<
  CallParams<"claim">,
  "command" | "cwd" | "environment" | "scope" | "own" | "vendor" | "prompt"
>;

/** Returns the spec from the call or the store; null when the call has no command and the worker was never started. */
export function launchSpecOf(input: ClaimInput, worker: Worker | null): LaunchSpec | null {
  if (input.command !== null) return parseSpec(input.command, input.cwd ?? "/", input, input.vendor);
  const command = worker?.command;
  if (!worker || !command) return null;
  const { declared } = worker;
  const vendor = worker.vendor === null ? null : { name: worker.vendor, programAt: worker.programAt ?? 0, declared };
  // The stored command is used with the environment of this call, because keys are renewed.
  return parseSpec(command, worker.cwd ?? "/", input, vendor);
}

export function requireLaunchSpec(input: ClaimInput, worker: Worker): LaunchSpec {
  const spec = launchSpecOf(input, worker);
  if (spec !== null) return spec;
  throw new PerdureError("usage", `${worker.name} has never been started, so there is no command to repeat.`, {
    hint: verb("run", worker.name, "--", "COMMAND"),
  });
}

/** Returns the spec of the next start that nobody at a terminal asks for; null for a worker that was never started. */
export function storedSpecOf({ environments }: Pick<BaseServices, "environments">, worker: Worker): LaunchSpec | null {
  return launchSpecOf({ command: null, cwd: null, environment: environments.of(worker), vendor: null }, worker);
}

/** Stores the spec, inside a change, for the next start, unless it has no conversation: `claude --version` is not repeated. */
export function storeLaunchSpec(
  services: ChangeServices & Pick<BaseServices, "environments">,
  worker: Worker,
  spec: LaunchSpec,
): void {
  if (spec.vendor?.noConversation === true && worker.command !== null) return;
  setLaunch(services.db, worker.id, storedLaunchOf(spec));
  services.environments.record(worker.id, spec.given);
}

export function storedLaunchOf(spec: LaunchSpec): StoredLaunch {
  return {
    command: spec.command,
    cwd: spec.cwd,
    vendor: spec.vendor?.adapter.vendor ?? null,
    programAt: spec.vendor?.programAt ?? null,
    declared: spec.vendor?.declared ?? null,
  };
}

function parseSpec(command: string[], cwd: string, input: ClaimInput, vendor: ClaimInput["vendor"]): LaunchSpec {
  const { environment: base, scope, own, prompt = null } = input;
  const given = { environment: base, scope, own };
  const environment = { ...base, ...own };
  if (vendor === null) return { command, cwd, environment, given, vendor: null, prompt };
  const adapter = requireAdapter(vendor.name);
  const args = command.slice(vendor.programAt + 1);
  const { converses, conflict } = adapter.launch.readArgs(args);
  if (converses && conflict !== null) {
    throw new PerdureError("usage", `${adapter.vendor} cannot be started with ${conflict}.`, {
      hint: "omit it; --fresh begins a new conversation, adopt takes an existing one",
    });
  }
  const { programAt, declared = null } = vendor;
  return {
    command,
    cwd,
    environment,
    given,
    vendor: { adapter, programAt, args, noConversation: !converses, declared },
    prompt,
  };
}

export function requireAdapter(vendor: string): Adapter {
  const adapter = adapterOf(vendor);
  if (adapter) return adapter;
  throw unknownVendor(vendor);
}

/** Returns the variables of the program, with those that the words in front of it assign: `env CLAUDE_CONFIG_DIR=… claude`. */
export function programVariables(
  { command, environment }: Pick<LaunchSpec, "command" | "environment">,
  programAt: number,
): Record<string, string> {
  const assigned = command.slice(0, programAt).flatMap((word) => {
    const at = word.indexOf("=");
    return /^[A-Za-z_][A-Za-z0-9_]*=/.test(word) ? [[word.slice(0, at), word.slice(at + 1)] as const] : [];
  });
  return { ...environment, ...Object.fromEntries(assigned) };
}

/** Returns where the vendor will store a new conversation; variables in the command count. */
export function locationForNew(
  spec: LaunchSpec,
  { adapter, programAt }: Pick<VendorSpec, "adapter" | "programAt">,
): { vendor: string; configDir: string; variables: Variables; launchCwd: string } {
  const { cwd } = spec;
  const { dir, variables } = adapter.storage.configDirOf(programVariables(spec, programAt));
  return { vendor: adapter.vendor, configDir: realPath(resolve(cwd, dir)), variables, launchCwd: cwd };
}
