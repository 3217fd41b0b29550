import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DaemonStatus } from "../../../src/protocol/records/admin.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

test("an I/O error is never acknowledged; the daemon leaves, and the next one checks the whole store", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  // Its end is on disk by then: nothing else has to be written when the disk begins to fail.
  await home.json<History>(["history", "coder"]);
  const pid = home.daemonPid() ?? 0;
  // From here on every sync of the running daemon fails, as on a dying disk.
  const inject = ["-f", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO"];
  const disk = spawn("strace", [...inject, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  await once(disk.stderr, "data");
  const died = once(disk, "exit");

  const refused = await home.perdure(["run", "coder", "--", "true"]);
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain("I/O error");
  await died;
  expect(existsSync(join(home.state, "io-error"))).toBe(true);

  // What was refused may be there or not, but it holds nothing; what was acknowledged is there.
  const { runs } = await home.json<History>(["history", "coder"]);
  expect(runs.at(-1)).toMatchObject({ generation: 1, exit: 0, reason: "exited" });
  expect(runs.filter(({ endedAt }) => endedAt === null)).toEqual([]);
  expect((await home.perdure(["run", "coder", "--", "true"])).code).toBe(0);
  const deadline = Date.now() + 20_000;
  let status = await home.json<DaemonStatus>(["daemon", "status"]);
  while (status.store.check === "pending" && Date.now() < deadline)
    status = await home.json<DaemonStatus>(["daemon", "status"]);
  expect(status.store.check).toBe("ok");
  expect(existsSync(join(home.state, "io-error"))).toBe(false);
});
