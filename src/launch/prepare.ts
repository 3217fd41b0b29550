import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MissingVariable } from "../protocol/records/environment.ts";
import type { ClaimGrant, LaunchOrder, MintOrder } from "../protocol/records/launch.ts";
import type { Environment } from "../util/environment.ts";
import { PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import type { Adapter } from "../vendors/adapter.ts";
import { LAUNCH } from "../vendors/delivery.ts";
import { FREE_PORT, type LaunchFile } from "../vendors/launch-plan.ts";
import { freePort } from "../vendors/shared/free-port.ts";
import { WAITING_MAIL } from "../vendors/shared/hook-script.ts";
import { findProgram } from "../runtime/find-program.ts";
import { EXIT_FILE_ROOM } from "../runtime/wrapper/script.ts";
import { isFolder } from "../state/files.ts";
import type { depositMail } from "./deposit.ts";
import { withVariables, workerEnvironment } from "./environment.ts";

/** Everything that is needed to become, or to start, the wrapper of a claimed run. */
export interface PreparedLaunch {
  grant: ClaimGrant;
  /** The command, beginning with the program's absolute path. */
  command: string[];
  cwd: string;
  session: LaunchOrder["session"];
  /** The program is headless, and its end will show whether it was in the conversation. */
  judged: boolean;
  environment: Record<string, string>;
  /** The variables that the program's own settings name and that were not given with the claim. */
  lacks: readonly MissingVariable[];
  /** The text that tells the agent of itself and its peers at its start; null for nothing. */
  introduction: string | null;
  startMessage: LaunchOrder["startMessage"];
  /** How the wrapper has to treat the program; null for one of no vendor. */
  wrapping: NonNullable<LaunchOrder["wrapping"]> | null;
}

/** Serialises tasks per vendor, for callers that start several workers: a program must not mint two ids at a time. */
type RunExclusive = <T>(vendor: string, act: () => Promise<T>) => Promise<T>;

/** The helpers that a start is prepared with. Few starts need an adapter: a command loads them only when asked. */
export interface LaunchHelpers {
  adapterOf: (vendor: string) => Promise<Adapter | null>;
  deposit: typeof depositMail;
  /** Tells the daemon which conversation was minted. */
  bind: (session: string) => Promise<LaunchOrder>;
  exclusively?: RunExclusive;
}

/** Prepares the start of a claimed run. */
export async function prepareLaunch(
  grant: ClaimGrant,
  env: Environment,
  helpers: LaunchHelpers,
): Promise<PreparedLaunch> {
  const environment = workerEnvironment(env, grant);
  const granted = grant.mint ? await helpers.bind(await mint(grant, grant.mint, environment, helpers)) : grant.launch;
  if (granted === null) throw new Error("a claim to run was granted without anything to run");
  const order = granted.freePort ? withPort(granted, String(await freePort())) : granted;
  const ready = resolveLaunch({ ...grant, command: order.command, cwd: order.cwd }, env, order.session);
  writeRunFiles(grant.runDir, order);
  const { session, judged = false, lacks = [], introduction = null, startMessage } = order;
  const changed = withVariables(environment, order.variables);
  if (existsSync(join(grant.runDir, WAITING_MAIL, LAUNCH))) await helpers.deposit(grant.runDir, order, ready, changed);
  const vendor = session?.vendor;
  const wrapping = order.wrapping ?? (vendor === undefined ? null : wrappingOf(await helpers.adapterOf(vendor)));
  return { grant, ...ready, session, judged, lacks, introduction, startMessage, wrapping, environment: changed };
}

/** Tells how the wrapper has to treat a vendor's program. */
export function wrappingOf(adapter: Adapter | null): NonNullable<LaunchOrder["wrapping"]> {
  return {
    loaderSwallowsSignals: adapter?.launch.loaderSwallowsSignals === true,
    slowVerdict: adapter?.storage.slowProbe === true,
  };
}

async function mint(
  grant: ClaimGrant,
  order: MintOrder,
  workerEnv: Record<string, string>,
  { adapterOf, exclusively = (_vendor, act) => act() }: LaunchHelpers,
): Promise<string> {
  const identity = (await adapterOf(order.vendor))?.launch.identity;
  if (identity?.kind !== "minted") throw new Error(`${order.vendor} makes no ids of its own`);
  const { command, cwd } = resolveLaunch({ ...grant, command: order.command, cwd: order.cwd }, workerEnv);
  const environment = withVariables(workerEnv, order.variables);
  const { args, from } = order;
  // codex fails when two processes create its database at once.
  return exclusively(order.vendor, () => identity.mint({ command, args, name: grant.name, cwd, environment, from }));
}

function withPort(order: LaunchOrder, port: string): LaunchOrder {
  return {
    ...order,
    command: order.command.map((word) => (word === FREE_PORT ? port : word)),
    files: order.files.map(({ name, text }) => ({ name, text: text.replaceAll(FREE_PORT, port) })),
  };
}

/** Writes the files of the launch into the run's folder, and links to the user's own. */
function writeRunFiles(runDir: string, { files, mirrors }: LaunchOrder): void {
  writeFileSync(join(runDir, EXIT_FILE_ROOM.name), EXIT_FILE_ROOM.text, { mode: 0o600 });
  for (const { name, text } of files) {
    mkdirSync(dirname(join(runDir, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(runDir, name), text, { mode: 0o600 });
  }
  for (const mirror of mirrors) {
    const { name, of, leave = [] } = mirror;
    mkdirSync(join(runDir, name), { recursive: true, mode: 0o700 });
    const skipped = new Set([...files.map((file) => file.name), ...leave.map((entry) => join(name, entry))]);
    const entries = [...entriesToLink(mirror)].filter((entry) => !skipped.has(join(name, entry)));
    for (const entry of entries) symlinkSync(join(of, entry), join(runDir, name, entry));
  }
}

/** Returns the entries to link, and creates those folders that the program would create itself. */
function entriesToLink({ of, only, folders = [], files = [] }: LaunchOrder["mirrors"][number]): Set<string> {
  for (const folder of folders) mkdirSync(join(of, folder), { recursive: true, mode: 0o700 });
  const present = readdirSync(of);
  return new Set([...(only ? present.filter((entry) => only.includes(entry)) : present), ...files]);
}

/** Resolves the command's program and checks the folder; throws an error that says which of the two is missing. */
export function resolveLaunch(
  worker: Pick<ClaimGrant, "address" | "name" | "command" | "cwd">,
  env: Environment,
  session: { vendor: string; id: string } | null = null,
): { command: string[]; cwd: string } {
  const cwd = worker.cwd ?? process.cwd();
  if (!isFolder(cwd)) {
    const bound =
      session && verb("adopt", worker.name, "--vendor", session.vendor, "--conversation", session.id, "--cwd", "DIR");
    throw new PerdureError("not-found", `The folder of ${worker.address} no longer exists: ${cwd}`, {
      hint: bound
        ? hintOf`continue elsewhere: ${bound}`
        : hintOf`start it where it should be: ${verb("run", worker.name, "--", "COMMAND")}`,
    });
  }
  const words = worker.command ?? [];
  return { command: [resolveProgram(words, env, cwd), ...words.slice(1)], cwd };
}

/** Returns the absolute path of a command's program; throws before anything is claimed for it. */
export function resolveProgram(command: readonly string[], env: Environment, cwd: string): string {
  const program = findProgram(command[0] ?? "", env.PATH, cwd);
  if ("file" in program) return program.file;
  throw new PerdureError("not-found", `Cannot start ${JSON.stringify(command[0] ?? "")}: ${program.missing}.`, {
    hint: "check the spelling, or give its path",
  });
}

/**
 * Leaves what the program's first hook says, where its vendor can: who the agent is, and the context file that an earlier run of its
 * worker left, which a variable names, too.
 */
export async function tellAtStart(
  launch: PreparedLaunch,
  file: string | null,
  adapterOf: LaunchHelpers["adapterOf"],
): Promise<void> {
  const { grant, environment } = launch;
  if (file !== null) environment.PERDURE_PREDECESSOR_CONTEXT = file;
  const left = file === null ? null : `An earlier run of ${grant.address} left its context in ${file}.`;
  const message = await messageAtStart(launch, left, adapterOf);
  if (message) writeFileSync(join(grant.runDir, message.name), message.text, { mode: 0o600 });
}

async function messageAtStart(
  { session, introduction, startMessage, judged }: PreparedLaunch,
  left: string | null,
  adapterOf: LaunchHelpers["adapterOf"],
): Promise<LaunchFile | null> {
  if (left === null && startMessage !== undefined) return startMessage;
  return session && startMessageOf(await adapterOf(session.vendor), judged, [introduction, left]);
}

/** Makes the file from which a program's first hook tells its agent these sentences; null where nothing is said. */
export function startMessageOf(
  adapter: Adapter | null,
  judged: boolean,
  sentences: readonly (string | null)[],
): LaunchFile | null {
  const said = sentences.filter((each) => each !== null).join("\n");
  const launch = adapter?.launch;
  const isHeard = said !== "" && !(judged && launch?.startMessageEatsPrompt);
  return isHeard ? (launch?.startMessage?.(said) ?? null) : null;
}
