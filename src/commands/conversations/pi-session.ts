import { join } from "node:path";
import { NAME_CHARS_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { isName, slugName } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { execWrapper, inheritedFrom } from "../../runtime/wrapper/exec.ts";
import { resolveProgram } from "../../launch/prepare.ts";
import { statePaths } from "../../state/paths.ts";
import { makeSafeFolder } from "../../state/safe-folder.ts";
import { claimForLaunch } from "../shared/launch.ts";
import type { Command } from "../shared/command.ts";
import { rawOutput } from "../shared/output.ts";

const FOLDER = "pi-sessions";

export const piSession: Command = {
  summary: "print the stable Pi session file of a key from another system",
  usage: "KEY [--lock -- COMMAND…]",
  details: [
    "The folder is created (0700), the file never is. Different keys have different files. With --lock the command finds",
    "the path in PERDURE_PI_SESSION, and a second holder is refused (exit 4).",
  ].join("\n"),
  examples: [
    "perdure pi-session 7f3a9c",
    'pi --session "$(perdure pi-session 7f3a9c)"',
    `perdure pi-session 7f3a9c --lock -- sh -c 'pi --session "$PERDURE_PI_SESSION"'`,
  ],
  options: { lock: { about: "run COMMAND, which holds the file for as long as it runs" } },
  words: [1, 1],
  takesRest: true,

  async run({ words, values, rest, out }) {
    const key = words[0] ?? "";
    if (key.trim() === "") throw new PerdureError("usage", "The key is empty.", { hint: "perdure pi-session KEY" });
    const folder = join(statePaths(process.env).dir, FOLDER);
    makeSafeFolder(statePaths(process.env).dir);
    makeSafeFolder(folder);
    const path = join(folder, `${fileNameOf(key)}.jsonl`);
    if (values.lock === true) return runLocked(key, folder, path, rest ?? []);
    if (rest !== null)
      throw new PerdureError("usage", "A command needs --lock.", { hint: "perdure pi-session KEY --lock -- COMMAND" });
    out.result({ key, path }, () => rawOutput(path));
  },
};

/** Runs the command under a lease, which serves as the lock: survivors keep it, and a killed holder frees it at once. */
async function runLocked(key: string, folder: string, path: string, rest: readonly string[]): Promise<void> {
  if (rest.length === 0)
    throw new PerdureError("usage", "Nothing to run.", { hint: "perdure pi-session KEY --lock -- COMMAND" });
  const cwd = process.cwd();
  resolveProgram(rest, process.env, cwd);
  const { grant, command, environment } = await claimForLaunch({
    target: { project: null, name: leaseName(key), here: { identity: folder, root: folder, base: FOLDER } },
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
    environment: { ...environment, PERDURE_PI_SESSION: path },
    inherited: inheritedFrom(process.env),
  });
}

const HASHED = /-[0-9a-f]{10}$/;

/** Returns a valid name for any key, different for different keys: the key itself, or a slug with a hash that no plain key ends with. */
function leaseName(key: string): string {
  if (isName(key) && key === key.toLowerCase() && !HASHED.test(key)) return key;
  return `${slugName(key)
    .slice(0, NAME_CHARS_MAX - 11)
    .replace(/[^A-Za-z0-9]+$/, "")}-${sha256(key).slice(0, 10)}`;
}
