import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { campaign } from "../support/campaign.ts";
import { finish, type Finished } from "../support/home.ts";
import { check } from "../support/check.ts";

interface Size {
  rounds: number;
  /** Rounds in which the command line tries as well: it takes a while to start. */
  commandsEvery: number;
}

const FULL_DISK = resolve(import.meta.dirname, "support/full-disk-process.ts");

export const diskFull = campaign<Size>({
  number: 8,
  promise: "disk full: refuse, keep reading, recover",
  reduced: { rounds: 6, commandsEvery: 3 },
  full: { rounds: 100, commandsEvery: 5 },
  async run({ rounds, commandsEvery }, seed) {
    const refused = await inNamespace(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]);
    if (refused.code !== 0) {
      process.stderr.write(`campaign 8 is skipped: a small disk cannot be mounted here: ${refused.stderr}\n`);
      return { skipped: 1 };
    }
    const numbers = [rounds, commandsEvery, seed].map(String);
    const { code, stdout, stderr } = await inNamespace([process.execPath, FULL_DISK, ...numbers]);
    check(code === 0, `the namespace ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, number>;
  },
});

/** Runs a command with mounts of its own, which end with it; without root in a user namespace, where one is root. */
function inNamespace(command: string[]): Promise<Finished> {
  const flags = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  return finish(spawn("unshare", [...flags, ...command], { stdio: ["ignore", "pipe", "pipe"] }));
}
