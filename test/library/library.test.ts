import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, PerdureError, type Lease, type Perdure } from "../../src/index.ts";
import type { History } from "../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { finish, Home } from "../support/home.ts";
import { outputWith, runLibraryProgram } from "./library-program.ts";

const ROOT = resolve(import.meta.dirname, "../..");

let home: Home;
let perdure: Perdure;
beforeEach(async () => {
  home = new Home();
  perdure = await connect({ env: home.env, cwd: home.project });
});
afterEach(async () => {
  await perdure.close();
  await home.clear();
});

async function reasons(name: string): Promise<(string | null)[]> {
  return (await home.json<History>(["history", name])).runs.map(({ reason }) => reason);
}

describe("a lease", () => {
  it("owns its name until it is released", async () => {
    const lease = await perdure.claim("coder");
    expect(lease).toMatchObject({ address: "api/coder", generation: 1 });
    expect((await home.perdure(["run", "coder", "--", "true"])).code).toBe(4);
    await lease.release();
    expect(await reasons("coder")).toEqual(["released"]);
    expect((await perdure.claim("coder")).generation).toBe(2);
  });

  it("B6: leaves room for more than sixty-four others in one process, which are all told and released", async () => {
    const leases: Lease[] = [];
    for (let n = 0; n < 70; n++) leases.push(await perdure.claim(`worker-${n}`));
    expect(new Set(leases.map(({ run }) => run)).size).toBe(70);
    const told = new Promise<string>((resolvePromise) => leases[69]?.onDisplaced(resolvePromise));
    expect((await home.perdure(["takeover", "worker-69"])).code).toBe(0);
    expect(await told).toMatch(/^operator /);
    await Promise.all(leases.slice(0, 69).map((lease) => lease.release()));
    expect(await reasons("worker-0")).toEqual(["released"]);
  });

  it("is released by await using", async () => {
    {
      await using lease = await perdure.claim("coder");
      expect(lease.displacedBy).toBeNull();
    }
    expect(await reasons("coder")).toEqual(["released"]);
  });

  it("refuses a second claimer with a typed error that names the holder", async () => {
    const lease = await perdure.claim("coder");
    const second = await connect({ env: home.env, cwd: home.project });
    const error = await second.claim("coder").catch((thrown: unknown) => thrown);
    await second.close();
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ code: "held", retryable: true, details: { run: lease.run, pid: process.pid } });
  });

  it("is told by whom it was displaced, is fenced, and never reclaims", async () => {
    const lease = await perdure.claim("coder");
    const told = new Promise<string>((resolvePromise) => lease.onDisplaced(resolvePromise));
    await home.perdure(["takeover", "coder"]);
    expect(await told).toMatch(/^operator /);
    expect(lease.displacedBy).toMatch(/^operator /);
    await expect(lease.release()).rejects.toMatchObject({ code: "displaced" });
    expect((await home.json<{ workers: WorkerSummary[] }>(["ls"])).workers[0]).toMatchObject({ run: null });
  });

  it("outlives the daemon: killed, the next one knows the holder", async () => {
    const lease = await perdure.claim("coder");
    process.kill(home.daemonPid() ?? 0, "SIGKILL");
    expect((await home.perdure(["run", "coder", "--", "true"])).code).toBe(4);
    await lease.release();
    expect(await reasons("coder")).toEqual(["released"]);
  });

  it("outlives a daemon that is stopped politely, and is still told when it is displaced", async () => {
    const lease = await perdure.claim("coder");
    const told = new Promise<string>((resolvePromise) => lease.onDisplaced(resolvePromise));
    await home.perdure(["daemon", "stop"]);
    expect((await home.perdure(["run", "coder", "--", "true"])).code).toBe(4);
    await home.perdure(["takeover", "coder"]);
    expect(await told).toMatch(/^operator /);
  });

  it("lets its program end once it is released", async () => {
    const guest = runLibraryProgram(
      home,
      `import { connect } from "perdure"; const lease = await (await connect()).claim("solo"); await lease.release();`,
    );
    expect(await finish(guest)).toMatchObject({ code: 0, stderr: "" });
  });

  it("of a process that dies is free at once", async () => {
    const guest = runLibraryProgram(
      home,
      `import { connect } from "perdure"; const p = await connect(); const l = await p.claim("coder"); console.log(l.run);`,
    );
    await outputWith(guest, "coder");
    guest.kill("SIGKILL");
    await once(guest, "close");
    expect(await perdure.claim("coder")).toMatchObject({ generation: 2 } satisfies Partial<Lease>);
    expect(await reasons("coder")).toEqual([null, "gone"]);
  });
});

describe("programs under names", () => {
  it("start, are refused while they run, and tell how they ended", async () => {
    const started = await perdure.start("build", ["sh", "-c", "read x; exit 3"], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    expect(started).toMatchObject({ address: "api/build", generation: 1 });
    // stdin is a pipe nobody writes to: it ends with this process's handle, so the program is still there now.
    const again = await perdure.start("build", ["true"]).catch((thrown: unknown) => thrown);
    expect(again).toMatchObject({ code: "held", details: { run: started.run } });
    home.killRun(started.run);
    expect(await perdure.ended("build", started.run)).toMatchObject({ reason: "killed" });
  });

  it("that end before anybody looks are still told", async () => {
    const { run } = await perdure.start("quick", ["sh", "-c", "exit 7"]);
    expect(await perdure.ended("quick", run)).toMatchObject({ exit: 7, reason: "exited" });
  });

  it("belong to the project of the folder they are started in", async () => {
    const other = join(home.dir, "other");
    mkdirSync(other);
    const started = await perdure.start("build", ["sleep", "600"], { cwd: other });
    expect(started.address).toBe("other/build");
    home.killRun(started.run);
  });

  it("are followed over a rename and a restart of the daemon", async () => {
    const { run } = await perdure.start("build", ["sleep", "600"]);
    const ended = perdure.ended("build", run);
    await home.perdure(["rename", "build", "builder"]);
    await home.perdure(["daemon", "stop"]);
    await home.until("builder", (worker) => worker.run?.id === run);
    home.killRun(run);
    expect(await ended).toMatchObject({ run, reason: "killed" });
  });

  it("that cannot be started are an error", async () => {
    await expect(perdure.start("x", ["no-such-program"])).rejects.toMatchObject({ code: "not-found" });
  });
});

describe("the documentation", () => {
  const examples = [...readFileSync(resolve(ROOT, "docs/library.md"), "utf8").matchAll(/```js\n(.*?)```/gs)].map(
    ([, code]) => code ?? "",
  );

  it("has examples", () => expect(examples.length).toBeGreaterThan(3));

  it.each(examples.map((code, index): [number, string] => [index + 1, code]))("example %i runs", async (_, code) => {
    const { code: exit, stderr, stdout } = await finish(runLibraryProgram(home, code));
    expect(stderr).toBe("");
    expect(exit).toBe(0);
    expect(stdout).toContain("api");
  });

  it("the orchestrator of thirty lines keeps two programs alive over its own kill -9", async () => {
    const source = readFileSync(resolve(ROOT, "examples/keep-alive.js"), "utf8");
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(35);
    const first = runLibraryProgram(home, source);
    await Promise.all([outputWith(first, "started api/web"), outputWith(first, "started api/worker")]);
    first.kill("SIGKILL");
    await once(first, "close");
    const web = await home.until("web", ({ run }) => run !== null);
    const worker = await home.until("worker", ({ run }) => run !== null);

    const second = runLibraryProgram(home, source);
    await Promise.all([
      outputWith(second, `found web: ${web.run?.id}`),
      outputWith(second, `found worker: ${worker.run?.id}`),
    ]);
    const restarted = outputWith(second, "started api/web");
    home.killRun(web.run?.id ?? "");
    await restarted;
    expect((await home.until("web", ({ run }) => run !== null)).generation).toBe(2);
    expect((await home.until("worker", ({ run }) => run !== null)).run?.id).toBe(worker.run?.id);
    second.kill("SIGKILL");
    await once(second, "close");
  });
});
