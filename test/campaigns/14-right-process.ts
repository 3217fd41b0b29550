import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { campaign } from "../support/campaign.ts";
import { finish } from "../support/home.ts";
import { check } from "../support/check.ts";

interface Size {
  rounds: number;
}

const REUSE = resolve(import.meta.dirname, "support/pid-reuse-process.ts");

export const rightProcess = campaign<Size>({
  number: 14,
  promise: "never signal the wrong process",
  reduced: { rounds: 200 },
  full: { rounds: 1_000 },
  async run({ rounds }, seed) {
    if (process.getuid?.() !== 0) {
      process.stderr.write("campaign 14 is skipped: forcing pid reuse takes a pid namespace, and that takes root\n");
      return { skipped: 1 };
    }
    // A pid namespace of its own: what is forced there happens to nobody else, and all of it ends with its first process.
    const command = ["-p", "-f", "--mount-proc", "--kill-child", process.execPath, REUSE, String(rounds), String(seed)];
    const { code, stdout, stderr } = await finish(spawn("unshare", command, { stdio: ["ignore", "pipe", "pipe"] }));
    check(code === 0, `the namespace ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, number>;
  },
});
