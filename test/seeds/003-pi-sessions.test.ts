import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { connect } from "../../src/index.ts";
import { Home, type Finished } from "../support/home.ts";

// The seed: Pi sessions that outlive Pi's processes, by the session id of another system. Each test's name is what the seed says, in
// its words, and below what it lacks; what concerns its cloud is not here. The tests share one home, in which `pi` is a shell script
// that goes on in the file behind `--session`, as Pi does, and notes what it was given.

const PI = `#!/bin/sh
printf '%s\\n' "$*" >> "$HOME/pi-arguments"
printf '[%s]\\n' "$GSD_SESSION_ID" >> "$HOME/pi-gsd"
while [ $# -gt 0 ]; do case "$1" in --session) file=$2; shift;; esac; shift; done
[ -s "$file" ] || printf '{"type":"session","version":3,"id":"%s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"%s"}\\n' "$PI_NEW_ID" "$PWD" > "$file"
n=$(grep -c '"type":"message"' "$file")
parent=null; [ "$n" -eq 0 ] || parent="\\"m$n\\""
printf '{"type":"message","id":"m%s","parentId":%s,"message":{"role":"user","content":"turn %s"}}\\n' "$((n + 1))" "$parent" "$((n + 1))" >> "$file"
echo "turn $((n + 1))"
[ -z "$PI_STAYS" ] || exec sleep 600
`;
const ID = "0198c0de-0000-7000-8000-000000000001";

let home: Home;
beforeAll(() => {
  home = new Home({ PI_NEW_ID: ID });
  mkdirSync(join(home.dir, "bin"));
  writeFileSync(join(home.dir, "bin", "pi"), PI);
  chmodSync(join(home.dir, "bin", "pi"), 0o755);
  home.env.PATH = `${join(home.dir, "bin")}:${home.env.PATH}`;
});
afterAll(() => home.clear());

async function fileOf(key: string): Promise<string> {
  return (await home.perdure(["pi-session", "--", key])).stdout.trimEnd();
}

/** A task of the seed's daemon: one process, which ends with its answer. */
async function task(key: string, env: Record<string, string> = {}): Promise<Finished> {
  const command = ["sh", "-c", 'exec pi --session "$PERDURE_PI_SESSION"'];
  return home.perdure(["pi-session", "--lock", "--", key, "--", ...command], { env: { ...home.env, ...env } });
}

test("builds a Pi session file path under pi-sessions/<session-id>.jsonl", async () => {
  expect(await fileOf("7f3a9c")).toBe(join(home.state, "pi-sessions", "7f3a9c.jsonl"));
  expect(await fileOf("7f3a9c")).toBe(await fileOf("7f3a9c"));
});

test("creates the Pi session directory with user-only permissions", async () => {
  const file = await fileOf("7f3a9c");
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(existsSync(file)).toBe(false);
});

test("validates session ID and returns sanitized .jsonl filename", async () => {
  expect((await home.perdure(["pi-session", "--", " "])).code).toBe(2);
  const files = await Promise.all(["a/b", "a_b", "A_B", "../x"].map(fileOf));
  for (const file of files) expect(basename(file)).toMatch(/^[A-Za-z0-9._~-]+\.jsonl$/);
  // The seed maps a/b and a_b to one file.
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(files.length);
});

test("passes that path, so the Pi CLI runs with --session, while --no-session is absent", async () => {
  await task("passed");
  const [given = ""] = readFileSync(join(home.dir, "pi-arguments"), "utf8").trimEnd().split("\n").slice(-1);
  expect(given).toBe(`--session ${await fileOf("passed")}`);
  const refused = await home.perdure(["run", "never", "--vendor", "pi", "--", "--no-session"]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("nothing could be resumed");
});

test("Pi requires --session <path> to preserve conversation context across spawned task processes", async () => {
  expect((await task("progress")).stdout).toBe("turn 1\n");
  expect((await task("progress")).stdout).toBe("turn 2\n");
  expect((await task("another")).stdout).toBe("turn 1\n");
});

test("keeps Pi synthetic result session IDs out of the session field", async () => {
  await task("synthetic", { PI_NEW_ID: "pi-rpc-1" });
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls", "--all"]);
  expect(JSON.stringify(workers.map(({ session }) => session))).not.toContain("pi-rpc");
});

test("a second process on the same session is refused (the seed has no lock)", async () => {
  const holder = home.spawn(["pi-session", "held", "--lock", "--", "sh", "-c", "echo; exec sleep 600"]);
  await new Promise((resolve) => holder.stdout?.once("data", resolve));
  expect((await task("held")).code).toBe(4);
  const adopted = await home.perdure(["adopt", "held", "--pi-session", "held"]);
  expect(adopted.code).toBe(3); // it has no conversation yet
  const file = await fileOf("held");
  writeFileSync(file, `${JSON.stringify({ type: "session", version: 3, id: ID, cwd: home.project })}\n`);
  const locked = await home.perdure(["adopt", "held", "--pi-session", "held"]);
  expect(locked).toMatchObject({ code: 5, stderr: expect.stringContaining(`locked by pid ${holder.pid}`) as string });
  expect((await home.perdure(["pi-session", "held", "--fresh"])).code).toBe(5);
  expect(existsSync(file)).toBe(true);
  holder.kill("SIGKILL");
});

test("a worker in the session and a task of it never write at the same time", async () => {
  await task("shared", { PI_NEW_ID: "0198c0de-0000-7000-8000-00000000000b" });
  await home.perdure(["adopt", "sharer", "--pi-session", "shared"]);
  const holder = home.spawn(["pi-session", "shared", "--lock", "--", "sh", "-c", "echo; exec sleep 600"]);
  await new Promise((resolve) => holder.stdout?.once("data", resolve));
  const refused = await home.perdure(["run", "sharer"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toMatch(/open in another process, pid \d+ \(it locks the Pi session file\)/);
  expect(refused.stderr).toContain("perdure takeover pi-sessions/shared");
  expect((await home.perdure(["takeover", "pi-sessions/shared"])).code).toBe(0);

  const worker = home.spawn(["run", "sharer"], { env: { ...home.env, PI_STAYS: "1" } });
  await new Promise((resolve) => worker.stdout?.once("data", resolve));
  const second = await task("shared");
  expect(second).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("api/sharer runs in the Pi session") as string,
  });
  for (const choice of ["--fresh", "--accept"])
    expect((await home.perdure(["pi-session", "shared", choice])).code).toBe(4);
  await home.perdure(["stop", "sharer"]);
  expect((await task("shared")).stdout).toBe("turn 3\n");
});

test("early error handling: where there is no session file, Pi is not started", async () => {
  writeFileSync(join(home.dir, "pi-arguments"), "");
  expect((await task(" ")).code).toBe(2);
  const unsafe = await fileOf("unsafe");
  mkdirSync(unsafe);
  expect(await task("unsafe")).toMatchObject({ code: 5, stderr: expect.stringContaining(unsafe) as string });
  expect(readFileSync(join(home.dir, "pi-arguments"), "utf8")).toBe("");
});

test("a known file that is gone is put back, and never silently fresh", async () => {
  await task("gone");
  const file = await fileOf("gone"); // copied at each call
  const before = readFileSync(file, "utf8");
  rmSync(file);
  const { stdout, stderr } = await home.perdure(["pi-session", "gone"]);
  expect(stderr).toContain("was put back from perdure's copy");
  expect(readFileSync(stdout.trimEnd(), "utf8")).toBe(before);
  truncateSync(file, 0);
  expect((await task("gone")).stdout).toBe("turn 2\n");
});

test("a file that is another conversation than before is refused, unless it is taken as it is", async () => {
  await task("swapped");
  const file = await fileOf("swapped");
  writeFileSync(file, `${JSON.stringify({ type: "session", version: 3, id: "another", cwd: "/" })}\n`);
  const refused = await task("swapped");
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("is not the one it was");
  expect((await home.perdure(["pi-session", "swapped", "--accept"])).code).toBe(0);
  expect((await task("swapped")).code).toBe(0);
  const fresh = await home.perdure(["pi-session", "swapped", "--fresh"]);
  expect(existsSync(fresh.stdout.trimEnd())).toBe(false);
  expect((await task("swapped")).stdout).toBe("turn 1\n");
});

test("a key that begins with a dash is a key", async () => {
  expect(basename(await fileOf("-x"))).toMatch(/^-x~[0-9a-f]{10}\.jsonl$/);
  expect(basename(await fileOf("--lock"))).toMatch(/^--lock~/);
  expect((await task("-x")).stdout).toBe("turn 1\n");
  await using perdure = await connect({ env: home.env, cwd: home.project });
  for (const key of ["-x", "--lock", "--"]) expect(await perdure.piSession(key)).toBe(await fileOf(key));
});

test("the session's conversation becomes a worker, which is resumed from that file", async () => {
  const own = "0198c0de-0000-7000-8000-00000000000a";
  await task("worker", { PI_NEW_ID: own });
  const file = await fileOf("worker");
  const adopted = await home.perdure(["adopt", "coder", "--pi-session", "worker"]);
  expect(adopted).toMatchObject({ code: 0, stdout: `api/coder is in the Pi session of worker (${own})\n` });
  const ran = await home.perdure(["run", "coder"]);
  expect(ran.stdout).toContain("turn 2");
  const [given = ""] = readFileSync(join(home.dir, "pi-arguments"), "utf8").trimEnd().split("\n").slice(-1);
  expect(given).toContain(`--session ${file}`);
  const worker = await home.until("coder", ({ run }) => run === null);
  expect(worker.session).toMatchObject({ id: own });
  expect(await home.perdure(["adopt", "--pi-session", "worker"])).toMatchObject({ code: 2 });
});

test("GSD_SESSION_ID of an outer session does not leak into a worker", async () => {
  const env = { ...home.env, GSD_SESSION_ID: "outer" };
  await home.perdure(["run", "inner", "--", "sh", "-c", 'echo "[$GSD_SESSION_ID]" > "$HOME/leaked"'], { env });
  expect(readFileSync(join(home.dir, "leaked"), "utf8")).toBe("[]\n");
  // A command of the outer system's own, which only holds the file, keeps it.
  await task("leak", { GSD_SESSION_ID: "outer" });
  expect(readFileSync(join(home.dir, "pi-gsd"), "utf8").trimEnd().split("\n").at(-1)).toBe("[outer]");
});
