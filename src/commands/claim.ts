import { mkdirSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claim, type ClaimRequest } from "../client/claim.ts";
import { connect } from "../client/connect.ts";
import type { Environment } from "../protocol/environment.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { ClaimGrant, LaunchOrder, MintOrder } from "../protocol/results.ts";
import { withVariables } from "../runtime/ask-program.ts";
import { workerEnvironment } from "../runtime/environment.ts";
import { findProgram } from "../runtime/find-program.ts";
import { FREE_PORT } from "../vendors/adapter.ts";
import { freePort } from "../vendors/free-port.ts";
import { adapterOf } from "../vendors/index.ts";
import { matchCommand } from "../vendors/match.ts";
import { ask } from "./call.ts";

export interface Launch {
  grant: ClaimGrant;
  /** With the program's absolute path. */
  command: string[];
  cwd: string;
  session: LaunchOrder["session"];
  environment: Record<string, string>;
}

type Request = Omit<ClaimRequest, "kind" | "pid">;

/** Claims, and gets everything ready for the start. If that fails the name is given back at once. */
export async function claimForLaunch(request: Request, env: Environment = process.env): Promise<Launch> {
  const grant = await claim(connect, { ...request, kind: "run", pid: process.pid });
  try {
    const own = workerEnvironment(env, grant);
    const given = grant.mint ? await mintAndBind(request, grant, grant.mint, own) : grant.launch;
    if (given === null) throw new Error("a claim to run was granted without anything to run");
    const order = given.freePort ? withPort(given, String(await freePort())) : given;
    const ready = launchOf({ ...grant, command: order.command, cwd: order.cwd }, order.session);
    furnish(grant.runDir, order);
    return { grant, ...ready, session: order.session, environment: withVariables(own, order.variables) };
  } catch (error) {
    await ask("release", { run: grant.run, generation: grant.generation, token: grant.token });
    throw error;
  }
}

async function mintAndBind(
  request: Request,
  grant: ClaimGrant,
  mint: MintOrder,
  own: Record<string, string>,
): Promise<LaunchOrder> {
  const identity = adapterOf(mint.vendor)?.identity;
  if (identity?.kind !== "minted") throw new Error(`${mint.vendor} makes no ids of its own`);
  const { command, cwd } = launchOf({ ...grant, command: mint.command, cwd: mint.cwd });
  const environment = withVariables(own, mint.variables);
  const { args, from } = mint;
  const session = await identity.mint({ command, args, name: grant.name, cwd, environment, from });
  const { run, generation, token } = grant;
  const { command: given, cwd: folder, environment: kept, vendor, prompt } = request;
  const wanted = { command: given, cwd: folder, environment: kept, vendor, prompt };
  return ask("bind", { run, generation, token, session, ...wanted });
}

function withPort(order: LaunchOrder, port: string): LaunchOrder {
  return {
    ...order,
    command: order.command.map((word) => (word === FREE_PORT ? port : word)),
    files: order.files.map(({ name, text }) => ({ name, text: text.replaceAll(FREE_PORT, port) })),
  };
}

/** What the launch needs in the run's folder: files of ours, and links to what is the user's. */
function furnish(runDir: string, { files, mirrors }: LaunchOrder): void {
  for (const { name, text } of files) {
    mkdirSync(dirname(join(runDir, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(runDir, name), text, { mode: 0o600 });
  }
  for (const mirror of mirrors) {
    const { name, of, leave = [] } = mirror;
    mkdirSync(join(runDir, name), { recursive: true, mode: 0o700 });
    const ours = new Set([...files.map((file) => file.name), ...leave.map((entry) => join(name, entry))]);
    const entries = [...mirrored(mirror)].filter((entry) => !ours.has(join(name, entry)));
    for (const entry of entries) symlinkSync(join(of, entry), join(runDir, name, entry));
  }
}

/** What is to be linked, with what the program would make itself. */
function mirrored({ of, only, folders = [], files = [] }: LaunchOrder["mirrors"][number]): Set<string> {
  for (const folder of folders) mkdirSync(join(of, folder), { recursive: true, mode: 0o700 });
  const there = readdirSync(of);
  return new Set([...(only ? there.filter((entry) => only.includes(entry)) : there), ...files]);
}

/** Whose program a command starts, by its words and by where its first one leads to; null for one without an adapter. */
export function vendorOf(command: readonly string[], cwd: string): ClaimRequest["vendor"] {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  const match = matchCommand(command, "file" in program ? realpathSync(program.file) : null);
  return match && adapterOf(match.vendor) ? { name: match.vendor, programAt: match.programAt } : null;
}

/** The command with its program's path, in its folder; or an error that says which of the two is gone. */
export function launchOf(
  grant: Pick<ClaimGrant, "address" | "name" | "command" | "cwd">,
  session: { vendor: string; id: string } | null = null,
): { command: string[]; cwd: string } {
  const cwd = grant.cwd ?? process.cwd();
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    const bound = session && `perdure adopt ${grant.name} --vendor ${session.vendor} --session ${session.id} --cwd DIR`;
    throw new PerdureError("not-found", `The folder of ${grant.address} is gone: ${cwd}`, {
      hint: bound ? `go on elsewhere: ${bound}` : `start it where it should be: perdure run ${grant.name} -- COMMAND`,
    });
  }
  const words = grant.command ?? [];
  return { command: [programOf(words, cwd), ...words.slice(1)], cwd };
}

/** The absolute path of a command's program, or an error before anything was claimed for it. */
export function programOf(command: readonly string[], cwd: string): string {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  if ("file" in program) return program.file;
  throw new PerdureError("not-found", `Cannot start ${JSON.stringify(command[0] ?? "")}: ${program.missing}.`, {
    hint: "check the spelling, or give its path",
  });
}
