// A terminal without tmux: script(1) gives the pty and passes the exit code on.
import { spawn } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { BIN, finish, Home } from "../support/home.ts";
import { Worker } from "./worker.ts";

const home = new Home();
afterAll(() => home.clear());

const ENDINGS: [command: string, code: number, reason: string][] = [
  ["true", 0, "exited"],
  ["exit 7", 7, "exited"],
  ["exit 127", 127, "exited"],
  ["exit 255", 255, "exited"],
  ["kill -INT $$", 130, "SIGINT"],
  ["kill -HUP $$", 129, "SIGHUP"],
  ["kill -TERM $$", 143, "SIGTERM"],
  ["kill -KILL $$", 137, "SIGKILL"],
  ["ulimit -c 0; kill -SEGV $$", 139, "SIGSEGV"],
  ["ulimit -c 0; kill -ABRT $$", 134, "SIGABRT"],
  ["stty raw -echo; exit 3", 3, "exited"],
];

test.for(ENDINGS)("%s: %i, %s", async ([command, code, reason]) => {
  const worker = new Worker(home, "script");
  const line = `'${BIN}' run ${worker.name} -- sh -c '${command}'`;
  const before = `stty -g; ${line}; s=$?; stty -g; exit $s`;
  const child = spawn("script", ["-qec", before, "/dev/null"], { cwd: home.project, env: home.env });
  const { code: got, stdout } = await finish(child);
  expect(got).toBe(code);
  const settings = stdout.match(/[0-9a-f]+(:[0-9a-f]+){20,}/g);
  expect(settings).toHaveLength(2);
  expect(settings?.[1]).toBe(settings?.[0]);
  expect(await worker.ended()).toMatchObject({ exit: code, reason });
});
