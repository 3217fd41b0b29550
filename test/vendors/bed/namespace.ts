// Runs a command where only the loopback interface exists:
//   node test/vendors/bed/namespace.ts npx vitest run test/vendors
// Vendors' programs try to reach their makers' servers now and then; in here they cannot, whatever they try.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** With the network cut off: loopback is up, nothing else is, and no route leads out. */
export function isIsolated(): boolean {
  const interfaces = Object.keys(networkInterfaces());
  const routes = readFileSync("/proc/net/route", "utf8").trim().split("\n").slice(1);
  return interfaces.length === 1 && interfaces[0] === "lo" && routes.length === 0;
}

export function assertIsolated(): void {
  if (isIsolated()) return;
  throw new Error("the network can be reached from here; start this through test/vendors/bed/namespace.ts");
}

/** Runs a command in a network namespace of its own, to its end; the exit code. */
export async function isolated(command: readonly string[]): Promise<number> {
  // Root of a user namespace may do in its network what only root may do otherwise.
  const flags = process.getuid?.() === 0 ? ["-n"] : ["-r", "-n"];
  const enter = 'ip link set lo up && exec "$@"';
  const child = spawn("unshare", [...flags, "sh", "-c", enter, "sh", ...command], { stdio: "inherit" });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? (signal ? 1 : 0);
}

if (import.meta.main) process.exitCode = await isolated(process.argv.slice(2));
