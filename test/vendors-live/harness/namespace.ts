// Runs a command where only the loopback interface exists:
//   node test/vendors-live/harness/namespace.ts npx vitest run test/vendors-live
// Vendors' programs try to reach their makers' servers now and then; in here they cannot, whatever they try.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** Refuses where more than loopback is up. Not `exec` at the end: the shell stays in front. */
const ENTER = `ip link set lo up || exit 1
[ "$(ip -o link show up | cut -d ' ' -f 2)" = lo: ] && [ -z "$(ip route)" ] || { echo "the network is still there" >&2; exit 1; }
"$@"
exit $?`;

/** Tells whether the network is cut off: loopback is up, nothing else is, and no route leads out. */
export function isIsolated(): boolean {
  const interfaces = Object.keys(networkInterfaces());
  const routes = readFileSync("/proc/net/route", "utf8").trim().split("\n").slice(1);
  return interfaces.length === 1 && interfaces[0] === "lo" && routes.length === 0;
}

/** Runs a command in namespaces of its own, to its end; the exit code. */
export async function isolated(command: readonly string[]): Promise<number> {
  // Root of a user namespace may do in its network what only root may do otherwise.
  const rights = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  // Processes too: what a program leaves behind goes when the command ends, and the shell in front reaps what has died.
  // Where nobody does (a container without an init), a killed copilot looks alive and its session "in use".
  const namespaces = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const args = [...rights, ...namespaces, "sh", "-c", ENTER, "sh", ...command];
  const [code] = (await once(spawn("unshare", args, { stdio: "inherit" }), "exit")) as [number | null];
  return code ?? 1;
}

if (import.meta.main) process.exitCode = await isolated(process.argv.slice(2));
