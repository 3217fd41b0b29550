import type { Declared } from "../../protocol/records/conversation.ts";
import type { WorkerDefaults, WorkerEntry } from "../config/read.ts";
import { configError, type ConfigSource } from "../config/errors.ts";

/** One `[workers.*]` entry and the `[defaults]` that apply to it. */
export interface FleetFileEntry {
  key: string;
  own: WorkerEntry;
  defaults: WorkerDefaults;
  source: ConfigSource;
}

/** The program of an entry: a vendor's agent, a program with declared words, or any other program. */
export interface EntryProgram {
  vendor: string | null;
  command: string[] | null;
  args: string[];
  declared: Declared | null;
}

/** The vendor without a program of its own: the entry names the program and declares its words. */
const CUSTOM = "custom";

export function programOf(entry: FleetFileEntry): EntryProgram {
  const { own, defaults } = entry;
  const command = own.command ?? null;
  const declares = own.new !== undefined || own.resume !== undefined;
  const vendor = own.vendor ?? (command !== null && !declares ? null : (defaults.vendor ?? null));
  if (vendor === null && command === null) {
    throw entryError(entry, null, " has neither a vendor nor a command.", 'set vendor = "…" here or in [defaults]');
  }
  if (vendor !== CUSTOM && declares) {
    const key = own.new === undefined ? "resume" : "new";
    throw entryError(entry, key, `.${key} is only for vendor = "${CUSTOM}".`, `set vendor = "${CUSTOM}", or remove it`);
  }
  if (vendor !== CUSTOM && vendor !== null && command !== null) {
    const hint = `remove one of them; args = […] adds arguments for the vendor's program`;
    throw entryError(entry, "command", " has both a vendor and a command.", hint);
  }
  // The arguments of one vendor's program mean nothing to another's.
  const args = own.args ?? (vendor === (defaults.vendor ?? null) ? defaults.args : undefined) ?? [];
  checkWords(entry, "args", args);
  checkWords(entry, "command", command ?? []);
  if (command !== null && (command[0] ?? "") === "") {
    throw entryError(entry, "command", ".command names no program.", 'command = ["my-agent"]');
  }
  return { vendor, command, args, declared: vendor === CUSTOM ? declaredOf(entry) : null };
}

function declaredOf(entry: FleetFileEntry): Declared {
  const { command, new: begin = [], resume = [] } = entry.own;
  const hint = 'command = ["my-agent"], new = ["--id", "{id}"], resume = ["--continue", "{id}"]';
  if (command === undefined) throw entryError(entry, null, ` has vendor = "${CUSTOM}" and no command.`, hint);
  for (const [key, words] of Object.entries({ new: begin, resume })) {
    checkWords(entry, key, words);
    if (words.some((word) => word.includes("{id}"))) continue;
    throw entryError(entry, key, ` has vendor = "${CUSTOM}" and needs ${key}, with {id} in one of its words.`, hint);
  }
  return { new: begin, resume };
}

/** Merges the entry's variables over those of the defaults. No error ever repeats a value. */
export function variablesOf(entry: FleetFileEntry): Record<string, string> {
  const env: Record<string, string> = { ...entry.defaults.env, ...entry.own.env };
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      const message = `.env: ${JSON.stringify(name)} is not a variable name.`;
      throw entryError(entry, "env", message, "use letters, digits and _, and no digit first");
    }
    if (name === "PI_INTERCOM_SCOPE_ID") {
      const message = `.env: ${name} is set for all workers of a project, or for none.`;
      throw entryError(entry, "env", message, '[pi] scope = "…"');
    }
    if (/^(PERDURE_|PI_INTERCOM_)|^AI_AGENT_ID$/.test(name)) {
      throw entryError(entry, "env", `.env: ${name} is set by perdure itself.`, "remove it");
    }
    if (name === "GSD_SESSION_ID") {
      throw entryError(
        entry,
        "env",
        `.env: ${name} names a session of another system; no worker is given one.`,
        "remove it",
      );
    }
    if (value.includes("\0")) throw entryError(entry, "env", `.env: ${name} contains a NUL character.`);
  }
  return env;
}

/**
 * Makes an error at the line of the key, in the entry or in the defaults. The message continues the entry's name: `.copy is …`,
 * ` has …`.
 */
export function entryError(entry: FleetFileEntry, key: string | null, message: string, hint?: string): Error {
  const { own, defaults, source } = entry;
  const inherited = key !== null && !Object.hasOwn(own, key) && Object.hasOwn(defaults, key);
  const path = inherited ? ["defaults", key] : ["workers", entry.key, ...(key !== null && key in own ? [key] : [])];
  return configError(source, path, `workers.${entry.key}${message}`, hint);
}

/** The kernel ends an argument at a NUL. */
function checkWords(entry: FleetFileEntry, key: string, words: readonly string[]): void {
  if (words.some((word) => word.includes("\0"))) throw entryError(entry, key, `.${key} contains a NUL character.`);
}
