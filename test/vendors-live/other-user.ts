import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { finish } from "../support/home.ts";
import { binFolder, CACHE, type VendorName } from "./harness/pins.ts";
import { killMarked } from "./harness/marked-processes.ts";
import type { Result } from "./run-cases.ts";

export const OTHER_UID = 65_534;
const DROP = [`--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, "--clear-groups"];

/** Runs the same cases as a user who is not root: the results, or why that cannot be. */
export async function asOtherUser(
  vendors: readonly VendorName[],
  script: string,
  args: string[],
): Promise<Result[] | string> {
  if (process.getuid?.() !== 0) return "this is a normal user already";
  const tried = spawnSync("setpriv", [...DROP, process.execPath, "--check", script]);
  if (tried.status !== 0) return `uid ${OTHER_UID} cannot run ${script}: ${tried.stderr.toString().trim()}`;
  const dir = mkdtempSync(join(tmpdir(), "perdure-user-"));
  try {
    chownSync(dir, OTHER_UID, OTHER_UID);
    const env = {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: dir,
      TMPDIR: dir,
      XDG_CACHE_HOME: lendCache(dir, vendors),
    };
    const command = [...DROP, process.execPath, script, "--json", ...args];
    const child = spawn("setpriv", command, { env, cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
    const { code, stdout } = await finish(child);
    if (stdout === "") throw new Error(`the pass of uid ${OTHER_UID} ended with ${code}`);
    return JSON.parse(stdout) as Result[];
  } finally {
    await killMarked("TMPDIR", dir);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The installed programs lie in a home that nobody else may enter: the same files again, where everybody may. */
function lendCache(dir: string, vendors: readonly VendorName[]): string {
  const lent = join(dir, "cache", basename(CACHE));
  mkdirSync(lent, { recursive: true });
  chmodSync(dirname(lent), 0o755);
  const installs = vendors.map((name) => dirname(binFolder(name)));
  const copied = spawnSync("cp", ["-a", "--link", ...installs, join(CACHE, `node@${process.versions.node}`), lent]);
  if (copied.status !== 0) throw new Error(`cannot lend the installed programs: ${copied.stderr.toString()}`);
  return dirname(lent);
}
