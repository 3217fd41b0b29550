import { resolve } from "node:path";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Declared, Variables } from "../../protocol/records/conversation.ts";
import { realPath } from "../../state/paths.ts";
import { setLaunch, type StoredLaunch, type WorkerRow } from "../../store/workers.ts";
import { adapterOf, unknownVendor, type Adapter } from "../../vendors/index.ts";
import type { House } from "../services.ts";

/** What a claim is to start, from the call or as stored. */
export interface Wanted {
  command: string[];
  cwd: string;
  environment: Record<string, string>;
  vendor: VendorWanted | null;
  /** What to say first in a conversation that is begun now: of this start, not of the next. */
  prompt: string | null;
}

export interface VendorWanted {
  adapter: Adapter;
  programAt: number;
  args: string[];
  aside: boolean;
  /** For a program without an adapter of its own. */
  declared: Declared | null;
}

type Given = Pick<CallParams<"claim">, "command" | "cwd" | "environment" | "vendor" | "prompt">;

/** Null when the worker was never started and nothing was given. */
export function wantedOf(given: Given, worker: WorkerRow | null): Wanted | null {
  if (given.command !== null) return wanted(given.command, given.cwd ?? "/", given, given.vendor);
  const command = storedCommand(worker);
  if (worker === null || command === null) return null;
  const declared = worker.declared === null ? null : (JSON.parse(worker.declared) as Declared);
  const vendor = worker.vendor === null ? null : { name: worker.vendor, programAt: worker.program_at ?? 0, declared };
  // The same command again, with the environment of today: keys are renewed.
  return wanted(command, worker.cwd ?? "/", given, vendor);
}

export function mustWant(given: Given, worker: WorkerRow): Wanted {
  const want = wantedOf(given, worker);
  if (want !== null) return want;
  throw new PerdureError("usage", `${worker.name} has never been started, so there is no command to use again.`, {
    hint: `perdure run ${worker.name} -- COMMAND`,
  });
}

/** Inside a change. Kept for the next time; `claude --version` under a worker's name must not be what that runs. */
export function storeWanted(house: House, worker: WorkerRow, want: Wanted): void {
  if (want.vendor?.aside === true && worker.command !== null) return;
  setLaunch(house.db, worker.id, launchOf(want));
}

export function launchOf(want: Wanted): StoredLaunch {
  return {
    command: JSON.stringify(want.command),
    cwd: want.cwd,
    environment: JSON.stringify(want.environment),
    vendor: want.vendor?.adapter.vendor ?? null,
    program_at: want.vendor?.programAt ?? null,
    declared: want.vendor?.declared ? JSON.stringify(want.vendor.declared) : null,
  };
}

export function storedCommand(worker: WorkerRow | null): string[] | null {
  return worker === null || worker.command === null ? null : (JSON.parse(worker.command) as string[]);
}

function wanted(command: string[], cwd: string, given: Given, vendor: Given["vendor"]): Wanted {
  const { environment, prompt = null } = given;
  if (vendor === null) return { command, cwd, environment, vendor: null, prompt };
  const adapter = knownAdapter(vendor.name);
  const args = command.slice(vendor.programAt + 1);
  const { converses, conflict } = adapter.read(args);
  if (converses && conflict !== null) {
    throw new PerdureError("usage", `${adapter.vendor} must not be given ${conflict}.`, {
      hint: "leave it out; --fresh begins a new conversation, adopt takes an existing one",
    });
  }
  const { programAt, declared = null } = vendor;
  return { command, cwd, environment, vendor: { adapter, programAt, args, aside: !converses, declared }, prompt };
}

export function knownAdapter(vendor: string): Adapter {
  const adapter = adapterOf(vendor);
  if (adapter) return adapter;
  throw unknownVendor(vendor);
}

/** Which of the vendor's folders a new conversation goes to. `env CLAUDE_CONFIG_DIR=… claude` counts too. */
export function placeFor(
  { command, cwd, environment }: Wanted,
  { adapter, programAt }: Pick<VendorWanted, "adapter" | "programAt">,
): { vendor: string; configDir: string; variables: Variables; launchCwd: string } {
  const assigned = command.slice(0, programAt).flatMap((word) => {
    const at = word.indexOf("=");
    return /^[A-Za-z_][A-Za-z0-9_]*=/.test(word) ? [[word.slice(0, at), word.slice(at + 1)] as const] : [];
  });
  const { dir, variables } = adapter.config({ ...environment, ...Object.fromEntries(assigned) });
  return { vendor: adapter.vendor, configDir: realPath(resolve(cwd, dir)), variables, launchCwd: cwd };
}
