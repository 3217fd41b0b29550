import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectToDaemon, type Client } from "../../client/connect.ts";
import { readProjectConfig, readUserConfig } from "../../project/config/read.ts";
import { CONFIG_FILE } from "../../project/find.ts";
import { readFleet } from "../../project/fleet/read.ts";
import { DAY_MS, LONG_WAIT_MS, SWEEP_WARNING_DAYS } from "../../limits/index.ts";
import { asPerdureError, exitCodeOf, isPerdureError } from "../../protocol/errors.ts";
import type { DaemonStatus } from "../../protocol/records/admin.ts";
import type { WorkerDetail } from "../../protocol/records/worker.ts";
import { VERSION } from "../../protocol/version.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { installedVersion } from "../../launch/installed-version.ts";
import { processTable } from "../../runtime/process/index.ts";
import { detectWrapperForm } from "../../runtime/wrapper/script.ts";
import { homeDir, statePaths, userConfigFile } from "../../state/paths.ts";
import { checkSafeFolder } from "../../state/safe-folder.ts";
import { adapterOf, type Adapter } from "../../vendors/index.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import type { Command } from "../shared/command.ts";
import { toFleetEntry } from "../shared/launch/fleet-entries.ts";
import {
  declaredWorkersHere,
  findProjectHere,
  passedOverNote,
  projectRefHere,
  startCommandHere,
} from "../shared/here.ts";

import { printable } from "../shared/output.ts";
import { attentionItems } from "../shared/table/attention-list.ts";
import { undeliveredMail } from "./undelivered-mail.ts";
import { isFolder, statIfThere } from "../../state/files.ts";

interface Diagnosis {
  check: string;
  level: "ok" | "note" | "bad";
  message: string;
  fix: string | null;
  /** A worker waits for a person, which is no fault of the installation. */
  needsYou?: true;
}

export const doctor: Command = {
  summary: "check everything perdure needs, with a fix for each problem",
  usage: "",
  details: [
    "Exit 5 if something is broken. Includes a full integrity check of the store. A worker that needs somebody is noted, with",
    "the next command.",
  ].join("\n"),
  examples: ["perdure doctor", "perdure doctor --json"],
  words: [0, 0],

  async run({ out }) {
    const here = checkProject();
    const readable = here.every(({ level }) => level !== "bad");
    const findings = [
      ...checkMachine(),
      ...checkUserConfig(),
      ...checkAgents(),
      ...here,
      ...(readable ? checkFleet() : []),
      ...(await checkDaemon(readable)),
    ];
    const broken = findings.filter(({ level }) => level === "bad");
    const mark = { ok: out.paint.green("ok  "), note: out.paint.yellow("note"), bad: out.paint.red("BAD ") };
    out.result({ ok: broken.length === 0, findings }, () => {
      const lines = findings.map(({ check, level, message, fix }) => {
        return `${mark[level]}  ${check.padEnd(12)} ${printable(message)}${fix ? `\n                   ${out.paint.dim("→")} ${printable(fix)}` : ""}`;
      });
      return [...lines, "", verdict(broken.length, findings.filter(({ needsYou }) => needsYou).length)].join("\n");
    });
    return broken.length === 0 ? 0 : exitCodeOf("refused");
  },
};

function verdict(broken: number, needing: number): string {
  const first = broken === 0 ? "Nothing is broken" : `${broken} broken`;
  if (needing === 0) return `${first}.`;
  return `${first}; ${needing} ${needing === 1 ? "worker needs" : "workers need"} you, as noted above.`;
}

function checkMachine(): Diagnosis[] {
  const form = detectWrapperForm();
  const tmux = findProgram("tmux", process.env.PATH, "/");
  const perl = findProgram("perl", process.env.PATH, "/");
  return [
    ok("node", `${process.version}, SQLite ${process.versions.sqlite}`),
    form === "plain"
      ? note("shell", "signals to a worker arrive late here", "install bash, or GNU coreutils 8.31 or newer")
      : ok("shell", form === "env" ? "/bin/sh with env --default-signal" : "/bin/bash"),
    "file" in tmux
      ? ok("tmux", tmux.file)
      : (hasFleet() ? bad : note)("tmux", "not found; needed for fleets", "apt-get install tmux, or brew install tmux"),
    "file" in perl
      ? ok("perl", `${perl.file}, for the bridge beside each agent`)
      : note(
          "perl",
          "not found; the bridge beside each agent runs in Node, with five times the memory",
          "install perl",
        ),
  ];
}

/** Checks the user's own configuration: the daemon passes over one with a mistake, for a worker must not wait for that. */
function checkUserConfig(): Diagnosis[] {
  const file = userConfigFile(process.env);
  try {
    const { notify, tmux } = readUserConfig(file);
    const [program] = notify?.command ?? [];
    const found = program === undefined ? null : findProgram(program, process.env.PATH, homeDir(process.env));
    const conf = tmux?.conf?.replace(/^~\//, `${homeDir(process.env)}/`);
    return [
      ...(found !== null && "missing" in found ? [note("notify", found.missing, `edit command in ${file}`)] : []),
      ...(conf !== undefined && !existsSync(resolve(homeDir(process.env), conf))
        ? [bad("tmux", `${conf}, the conf of [tmux], does not exist`, `edit ${file}`)]
        : []),
    ];
  } catch (thrown) {
    const error = asPerdureError(thrown);
    return [bad("config", error.message, error.hint)];
  }
}

/** Checks each vendor's program on PATH: its version, and whether perdure was tested with it. */
function checkAgents(): Diagnosis[] {
  const found = VENDOR_PROGRAMS.flatMap(({ vendor, program }) => {
    const located = findProgram(program, process.env.PATH, "/");
    const adapter = adapterOf(vendor);
    if (!("file" in located) || !adapter) return [];
    return [agentFinding(adapter, located.file), ...recordingFindings(adapter), ...settingsFindings(adapter)];
  });
  return found.length > 0 ? found : [note("agents", "none found on PATH; any program can be named", null)];
}

function agentFinding({ vendor, tested, unproved }: Adapter, file: string): Diagnosis {
  if (unproved !== null)
    return note(vendor, `${file}; unproved: ${unproved}`, "check after the first resume: perdure history NAME");
  const version = installedVersion(file);
  if (version === null)
    return note(vendor, `${file}; version unknown; tested with ${tested.join(", ")}`, `${vendor} --version`);
  if (tested.includes(version)) return ok(vendor, `${version}, known to work; ${file}`);
  return note(
    vendor,
    `${version}; perdure was tested with ${tested.join(", ")}; ${file}`,
    "after an upgrade: perdure drill, then perdure history NAME",
  );
}

/** Tells what keeps an agent that is started here, in this environment, from recording its conversations. */
function recordingFindings({ vendor, storage }: Adapter): Diagnosis[] {
  const cwd = process.cwd();
  const configDir = resolve(cwd, storage.configDirOf(process.env).dir);
  const off = storage.unrecordedBy?.({ args: [], cwd, configDir, environment: process.env });
  if (!off) return [];
  return [bad(vendor, `records no conversation with ${off.setting} in ${off.place}`, `remove it from ${off.place}`)];
}

/** Tells of changes that were made inside an agent, and that could not be put into its user's own settings. */
function settingsFindings({ vendor, launch, storage }: Adapter): Diagnosis[] {
  const configDir = resolve(process.cwd(), storage.configDirOf(process.env).dir);
  return (launch.savedSettings?.leftBeside(configDir) ?? []).map((file) =>
    note(
      vendor,
      `${file} has what was changed inside a worker and could not be put into the settings`,
      `make the changes in ${vendor}, then rm ${file}`,
    ),
  );
}

function checkProject(): Diagnosis[] {
  try {
    const found = findProjectHere();
    readProjectConfig(found);
    const stray = join(process.cwd(), CONFIG_FILE);
    if (existsSync(stray) && found.here !== process.cwd()) {
      return [note("project", `${stray} is not read: the project's root is ${found.here}`, `move it to ${found.here}`)];
    }
    const passedOver = passedOverNote(found);
    if (passedOver !== null)
      return [note("project", passedOver, `git config --global --add safe.directory DIR, if you trust that user`)];
    return [ok("project", found.root)];
  } catch (thrown) {
    const error = asPerdureError(thrown);
    return [bad("project", error.message, error.hint)];
  }
}

function hasFleet(): boolean {
  try {
    return declaredWorkersHere(findProjectHere()).length > 0;
  } catch (error) {
    if (isPerdureError(error)) return false; // reported by the check of the project
    throw error;
  }
}

/** Checks that the fleet file could be used as it is, including its prompts, folders, names and vendors. */
function checkFleet(): Diagnosis[] {
  try {
    const read = readFleet(findProjectHere());
    if (read === null) return [];
    const names = read.workers.map((worker) => toFleetEntry(worker, read).name);
    return [ok("fleet", `${names.join(", ")} (${read.file})`)];
  } catch (thrown) {
    const error = asPerdureError(thrown);
    return [bad("fleet", error.message, error.hint)];
  }
}

async function checkDaemon(projectIsReadable: boolean): Promise<Diagnosis[]> {
  const paths = statePaths(process.env);
  try {
    if (existsSync(paths.dir)) checkSafeFolder(paths.dir);
    const client = await connectToDaemon();
    const findings = [ok("state", paths.dir), ...(await daemonFindings(client))];
    if (projectIsReadable)
      findings.push(
        ...(await slugFindings(client)),
        ...(await workerFindings(client)),
        ...(await mailFindings(client)),
      );
    client.close();
    return findings;
  } catch (thrown) {
    const error = asPerdureError(thrown);
    return [bad(error.code === "unsafe" ? "state" : "daemon", error.message, error.hint)];
  }
}

async function daemonFindings(client: Client): Promise<Diagnosis[]> {
  const status = await client.call("status", {});
  const check = await client.call("checkStore", {}, LONG_WAIT_MS);
  // A daemon of before does not know the call.
  const { failures } = status.version === VERSION ? await client.call("noticeFailures", {}) : { failures: [] };
  return [
    ...failures.map(({ channel, why, at }) => note("notify", `${channel} at ${at}: ${why}`, "perdure notify test")),
    ...namespaceFindings(status),
    ...copiedFindings(status),
    status.version === VERSION
      ? ok("daemon", `pid ${status.pid}, perdure ${status.version}`)
      : note(
          "daemon",
          `runs perdure ${status.version}; this is ${VERSION}`,
          "perdure daemon stop (workers keep running)",
        ),
    check.ok
      ? ok("store", `schema ${status.store.schema}, integrity checked in ${check.tookMs} ms`)
      : bad("store", `damaged: ${check.problems.join("; ")}`, "perdure daemon stop, then restore a backup"),
  ];
}

/** Reports a state folder that was copied: it knows nothing of what happened to the original after that. */
function copiedFindings({ store: { copiedAt = null } }: DaemonStatus): Diagnosis[] {
  if (copiedAt === null) return [];
  const what = `this state folder is a copy as of ${copiedAt}; conversations that were begun after that are not in it`;
  return [note("state", what, "perdure adopt lists conversations, perdure adopt NAME --conversation ID takes one")];
}

/** Reports a daemon of another pid namespace: two containers share this state folder. An older daemon does not say. */
function namespaceFindings({ namespace, host }: Partial<DaemonStatus>): Diagnosis[] {
  if (namespace === undefined || namespace === processTable().namespace()) return [];
  const place = `${namespace.split(" ")[0]} of ${host}`;
  return [
    note(
      "namespace",
      `the daemon runs in another pid namespace (${place}): names can be claimed only there; mail, ls and show work from here`,
      "use perdure there, or give each container a state folder of its own (PERDURE_HOME)",
    ),
  ];
}

/** Reports a `project` key that has no effect, because a registered project keeps its slug. */
async function slugFindings(client: Client): Promise<Diagnosis[]> {
  const configured = readProjectConfig(findProjectHere()).project;
  const { slug, registered } = await client.call("showProject", { here: projectRefHere() });
  if (!registered || configured === undefined || slug === configured || slug.startsWith(`${configured}-`)) return [];
  return [
    note("project", `perdure.toml says ${configured}; this folder is registered as ${slug}`, `project = "${slug}"`),
  ];
}

/** Checks that each worker of this project could be started again as it was. */
async function workerFindings(client: Client): Promise<Diagnosis[]> {
  const here = projectRefHere();
  const { items: workers } = await client.collect("ls", { here, project: null, all: false });
  const details = await Promise.all(
    workers.map(({ name }) => client.call("show", { target: { project: null, name, here } })),
  );
  return [
    ...attentionItems(workers).map(({ name, why, command }) => need(name, why, command)),
    ...details.flatMap((worker) => [workerFinding(worker), sweepFinding(worker)].filter((each) => each !== null)),
  ];
}

/** Reports mail that could not be handed to an agent, and has not reached it since: the agent itself is told nothing of that. */
async function mailFindings(client: Client): Promise<Diagnosis[]> {
  return (await undeliveredMail(client)).map(({ worker, ids, reason }) => {
    const what = ids.length === 1 ? `mail ${ids[0]} has` : `${ids.length} messages have`;
    return note(
      worker,
      `${what} not reached its agent, ${reason}`,
      `it is tried again by itself; perdure events ${worker}`,
    );
  });
}

/** Warns of a conversation that its vendor is about to delete for its age. */
function sweepFinding({ name, conversation }: WorkerDetail): Diagnosis | null {
  const days = conversation && adapterOf(conversation.vendor)?.storage.sweepsAfterDays?.(conversation.configDir);
  const file = conversation?.transcript?.file;
  const changedMs = file === undefined ? undefined : statIfThere(file)?.mtimeMs;
  if (!conversation || typeof days !== "number" || changedMs === undefined) return null;
  const leftDays = Math.floor((changedMs - Date.now()) / DAY_MS + days);
  if (leftDays > SWEEP_WARNING_DAYS) return null;
  const when = leftDays > 0 ? `in ${leftDays} days` : "at its next start";
  const swept = `${conversation.vendor} deletes its conversation ${when}, unused for ${days - leftDays} days`;
  return conversation.custody
    ? note(
        name,
        `${swept}; a copy is kept, and restored at the next start`,
        `or use it before: ${startCommandHere(findProjectHere(), name)}`,
      )
    : bad(name, `${swept}, and no copy is kept`, startCommandHere(findProjectHere(), name));
}

function workerFinding({ name, command, cwd, environment, environmentLost }: WorkerDetail): Diagnosis | null {
  if (command === null || cwd === null) return null;
  if (!isFolder(cwd)) {
    return note(name, `its folder is gone: ${cwd}`, `perdure run ${name} -- COMMAND, where it should run`);
  }
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  if ("missing" in program)
    return note(name, `cannot be started again: ${program.missing}`, "install it, or give its path");
  const start = startCommandHere(findProjectHere(), name);
  if (environmentLost)
    return note(name, "its recorded environment is gone: it is in no backup", `${start} at a terminal`);
  const lacking = ["PATH", "HOME"].filter((variable) => !environment.includes(variable));
  if (lacking.length === 0) return null;
  return note(name, `recorded environment lacks ${lacking.join(", ")}`, `${start} from a login shell`);
}

function ok(check: string, message: string): Diagnosis {
  return { check, level: "ok", message, fix: null };
}

function note(check: string, message: string, fix: string | null): Diagnosis {
  return { check, level: "note", message, fix };
}

function need(check: string, message: string, fix: string): Diagnosis {
  return { check, level: "note", message, fix, needsYou: true };
}

function bad(check: string, message: string, fix: string | null): Diagnosis {
  return { check, level: "bad", message, fix };
}
