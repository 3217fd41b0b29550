import { dirname } from "node:path";
import { NAME_CHARS_MAX } from "../../limits/index.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { isName, slugName } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { execWrapper, inheritedFrom } from "../../runtime/wrapper/exec.ts";
import { resolveProgram } from "../../launch/prepare.ts";
import {
  forgetCopy,
  headerOf,
  keepPiSession,
  PI_SESSION_VARIABLE,
  PI_SESSIONS,
  piSessionFiles,
  setSessionAside,
  type PiSessionFiles,
} from "../../state/kept-pi-session.ts";
import { statIfThere } from "../../state/files.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import { claimForLaunch } from "../shared/launch/launch.ts";
import type { Command } from "../shared/command.ts";
import { printable, rawOutput } from "../shared/output.ts";

export const piSession: Command = {
  summary: "print the stable Pi session file of a key from another system",
  usage: "KEY [options] [--lock -- COMMAND…] | -- KEY",
  details: [
    "The folder is created (0700), the file never is. Different keys have different files. With --lock the command finds",
    "the path in PERDURE_PI_SESSION, and a second holder, a worker among them, is refused (exit 4). A key that may begin with a dash stands",
    'behind `--`: perdure pi-session -- "$KEY", or --lock -- "$KEY" -- COMMAND.',
    "",
    "Each call copies the file. One that is gone or empty is put back from the copy; one that is another conversation than",
    "before is refused (exit 5). `perdure adopt NAME --pi-session KEY` makes the conversation a worker.",
  ].join("\n"),
  examples: [
    "perdure pi-session 7f3a9c",
    'pi --session "$(perdure pi-session -- "$KEY")"',
    `perdure pi-session 7f3a9c --lock -- sh -c 'pi --session "$PERDURE_PI_SESSION"'`,
  ],
  options: {
    lock: { about: "run COMMAND, which holds the file for as long as it runs" },
    fresh: { about: "begin a new conversation; the file and its copy are set aside" },
    accept: { about: "take the file as it is, or that it is gone; the copy is set aside" },
  },
  words: [0, 1],
  takesRest: true,

  async run({ words, values, rest, out }) {
    const { key, command } = keyAndCommand(words, rest);
    const files = piSessionFiles(process.env, key);
    if (values.fresh === true || values.accept === true) {
      await requireUnlocked(files);
      await requireNoWorker(files);
    }
    if (values.fresh === true) setSessionAside(files);
    if (values.accept === true) forgetCopy(files);
    const kept = await keepPiSession(files);
    if (kept === "restored")
      out.note(printable(`perdure: ${files.file} was gone, and was put back from perdure's copy`));
    if (values.lock === true) {
      await requireNoWorker(files);
      return runLocked(files, command ?? []);
    }
    if (command !== null)
      throw new PerdureError("usage", "A command needs --lock.", { hint: "perdure pi-session KEY --lock -- COMMAND" });
    out.result({ key, path: files.file, restored: kept === "restored" }, () => rawOutput(files.file));
  },
};

/** Reads the key, which may stand behind `--` because it begins with a dash; a command then follows a `--` of its own. */
function keyAndCommand(
  words: readonly string[],
  rest: readonly string[] | null,
): { key: string; command: readonly string[] | null } {
  const [word] = words;
  const [first = "", dashes, ...command] = rest ?? [];
  const read =
    word === undefined ? { key: first, command: dashes === undefined ? null : command } : { key: word, command: rest };
  if (word === undefined && first === "")
    throw new PerdureError("usage", "pi-session: KEY is missing.", { hint: "perdure pi-session KEY" });
  if (read.key.trim() === "") throw new PerdureError("usage", "The key is empty.", { hint: "perdure pi-session KEY" });
  if (word === undefined && dashes !== undefined && dashes !== "--") {
    throw new PerdureError("usage", `Behind \`--\` stands one key, and ${JSON.stringify(dashes)} follows it.`, {
      hint: "perdure pi-session --lock -- KEY -- COMMAND",
    });
  }
  return read;
}

/** Runs the command under a lease, which serves as the lock: survivors keep it, and a killed holder frees it at once. */
async function runLocked({ key, file }: PiSessionFiles, rest: readonly string[]): Promise<void> {
  if (rest.length === 0)
    throw new PerdureError("usage", "Nothing to run.", { hint: "perdure pi-session KEY --lock -- COMMAND" });
  const cwd = process.cwd();
  resolveProgram(rest, process.env, cwd);
  const { grant, command, environment } = await claimForLaunch({
    target: lockTarget({ key, file }),
    command: [...rest],
    cwd,
    environment: {},
    ephemeral: true,
    vendor: null,
    fresh: false,
  });
  execWrapper({
    command,
    cwd,
    form: grant.wrapper,
    runDir: grant.runDir,
    environment: { ...environment, ...outerSession(), [PI_SESSION_VARIABLE]: file },
    inherited: inheritedFrom(process.env),
  });
}

/** Keeps the session id of the system that calls: the command is its own, and no worker's. */
function outerSession(): Record<string, string> {
  const { GSD_SESSION_ID: id } = process.env;
  return id === undefined ? {} : { GSD_SESSION_ID: id };
}

/** Returns the name whose lease is the lock of a key: a name in a project of its own, which no person uses. */
function lockTarget({ key, file }: Pick<PiSessionFiles, "key" | "file">): Target {
  const folder = dirname(file);
  return { project: null, name: leaseName(key), here: { identity: folder, root: folder, base: PI_SESSIONS } };
}

/** Refuses a file that somebody holds by `pi-session --lock`: nobody else may write to it, or move it. */
export async function requireUnlocked(files: PiSessionFiles): Promise<void> {
  const { run } = await showLock(files);
  if (run === null) return;
  throw new PerdureError("refused", `The Pi session of ${JSON.stringify(files.key)} is locked by pid ${run.pid}.`, {
    hint: `quit it in pid ${run.pid} first`,
  });
}

/** Refuses a file in which a worker runs now, because it has adopted the conversation: two processes would write to it. */
async function requireNoWorker(files: PiSessionFiles): Promise<void> {
  const { key, file } = files;
  const id = statIfThere(file) === undefined ? undefined : headerOf(file)?.id;
  if (id === undefined) return;
  const { here } = lockTarget(files);
  const { items } = await listFromDaemon("ls", { here, project: null, all: true });
  const inside = items.find(({ run, session }) => run !== null && session?.id === id);
  if (inside?.run == null) return;
  const { address, run } = inside;
  throw new PerdureError("held", `${address} runs in the Pi session of ${JSON.stringify(key)}, pid ${run.pid}.`, {
    hint: hintOf`${verb("stop", address)}, or wait for its end`,
    details: { run: run.id, pid: run.pid },
  });
}

async function showLock(files: PiSessionFiles): Promise<{ run: { pid: number } | null }> {
  try {
    return await callDaemon("show", { target: lockTarget(files) });
  } catch (error) {
    if (isPerdureError(error) && error.code === "not-found") return { run: null };
    throw error;
  }
}

const HASHED = /-[0-9a-f]{10}$/;

/** Returns a valid name for any key, different for different keys: the key itself, or a slug with a hash that no plain key ends with. */
function leaseName(key: string): string {
  if (isName(key) && key === key.toLowerCase() && !HASHED.test(key)) return key;
  return `${slugName(key)
    .slice(0, NAME_CHARS_MAX - 11)
    .replace(/[^A-Za-z0-9]+$/, "")}-${sha256(key).slice(0, 10)}`;
}
