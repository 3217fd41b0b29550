import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ErrorBody } from "../../../src/protocol/errors.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { finish, Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

/** Ignores TERM, and says so when it does. */
async function startStubborn(): Promise<WorkerSummary> {
  const { child, worker } = await home.start("coder", [
    "sh",
    "-c",
    "trap '' TERM; echo up; while :; do sleep 0.2; done",
  ]);
  if (child.stdout) await once(child.stdout, "data");
  return worker;
}

test("a held name is refused with run, pid, since and the command that takes over", async () => {
  const { worker } = await home.start("coder", ["sleep", "600"]);

  const { code, stderr } = await home.perdure(["run", "coder", "--", "true"]);
  const { error } = await home.json<{ error: ErrorBody }>(["run", "coder", "--", "true"]);

  expect(code).toBe(4);
  expect(stderr).toContain(`run ${worker.run?.id}, pid ${worker.run?.pid}, since ${worker.run?.startedAt}`);
  expect(error).toMatchObject({
    code: "held",
    retryable: true,
    hint: expect.stringMatching(/perdure takeover (api\/)?coder/) as string,
  });
  const { id: run, pid, startedAt: since } = worker.run ?? {};
  expect(error.details).toMatchObject({ address: "api/coder", run, pid, since, generation: 1 });
});

test("names that differ in case only are one name", async () => {
  await home.start("Coder", ["sleep", "600"]);
  const { code, stderr } = await home.perdure(["run", "cODER", "--", "true"]);
  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("api/Coder is held") as string });
});

test("after SIGKILL of sleeper and wrapper the next run succeeds at once, with generation 2", async () => {
  const { worker, child } = await home.start("coder", ["sleep", "600"]);
  home.killRun(worker.run?.id ?? "");
  await once(child, "close");

  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });

  const { runs } = await home.json<History>(["history", "coder"]);
  expect(runs.map(({ generation }) => generation)).toEqual([2, 1]);
  expect(runs[1]).toMatchObject({ id: worker.run?.id, exit: null, reason: "killed", sessionId: null });
  expect(runs[0]?.id).not.toBe(runs[1]?.id);
});

test("with the wrapper alone killed the name is still held, by whoever lives on", async () => {
  const { worker, child } = await home.start("coder", ["sleep", "600"]);
  child.kill("SIGKILL");
  await once(child, "exit");

  const { error } = await home.json<{ error: ErrorBody }>(["run", "coder", "--", "true"]);

  expect(error.code).toBe("held");
  expect(error.message).toMatch(/its wrapper is gone; sleep still runs/);
  const [survivor] = home.processesOf(worker.run?.id ?? "");
  expect(error.details).toMatchObject({ run: worker.run?.id, pid: survivor?.pid });
  const { attention } = await home.until("coder", () => true);
  expect(attention).toContain("wrapper gone");
});

test("a program that ignores HUP and a double-forked one keep the name after the wrapper's end", async () => {
  const script = "(setsid sh -c 'trap \"\" HUP; echo up; sleep 600' &)";
  const child = home.spawn(["run", "coder", "--", "sh", "-c", script]);
  await once(child, "exit");

  const { code, stderr } = await home.perdure(["run", "coder", "--", "true"]);

  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("still runs") as string });
  expect(await home.json(["takeover", "coder"])).toMatchObject({ address: "api/coder" });
  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
});

test.each([
  ["codex", "app-server", "--managed-daemon"],
  ["claude", "daemon", "run"],
  ["claude bg-spare", "bg-spare", "--bg-spare"],
])(
  "B6: the background service `%s %s %s` does not keep the name of the run it was started in, and is not stopped with it",
  async (...words) => {
    // Node runs a file of that name, under the name and with the arguments that the vendor's own service has.
    const [vendor, file, option] = words;
    writeFileSync(join(home.dir, file), "setInterval(() => undefined, 1000);");
    const script = `cd "${home.dir}"; (setsid bash -c 'exec -a "${vendor}" "${process.execPath}" ${file} ${option}' >/dev/null 2>&1 &); sleep 1`;
    await once(home.spawn(["run", "coder", "--", "sh", "-c", script]), "exit");
    const [run] = (await home.json<History>(["history", "coder"])).runs;

    expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
    expect(home.processesOf(run?.id ?? "")).toHaveLength(1);
  },
);

test("a suspended holder is flagged, not robbed", async () => {
  const { worker } = await home.start("coder", ["sleep", "600"]);
  for (const { pid } of home.processesOf(worker.run?.id ?? "")) process.kill(pid, "SIGSTOP");

  const suspended = await home.until("coder", ({ attention }) => attention !== null);
  const { code } = await home.perdure(["run", "coder", "--", "true"]);

  expect(suspended).toMatchObject({ state: "running", attention: "suspended", generation: 1 });
  expect(code).toBe(4);
  expect(await home.json(["takeover", "coder"])).toMatchObject({ displaced: worker.run?.id, killed: false });
});

test("takeover stops the holder, tells it by whom, and frees the name", async () => {
  const { worker, child } = await home.start("coder", ["sleep", "600"]);
  const ending = finish(child);

  const taken = await home.json(["takeover", "coder"]);
  const { stderr } = await ending;

  expect(taken).toMatchObject({ address: "api/coder", displaced: worker.run?.id, generation: 2, killed: false });
  expect(stderr).toMatch(new RegExp(`this run \\(${worker.run?.id}\\) was displaced by operator \\w+`));
  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  const { runs } = await home.json<History>(["history", "coder"]);
  expect(runs.map(({ generation }) => generation)).toEqual([3, 1]);
  expect(runs[1]).toMatchObject({ reason: "displaced", displacedBy: expect.stringMatching(/^operator /) as string });
});

test("while the old run is being stopped the name is fenced: nobody can claim it yet", async () => {
  const worker = await startStubborn();
  const takeover = home.json(["takeover", "coder", "--kill-after", "60"]);
  await home.until("coder", ({ state }) => state === "displaced");

  const { code, stderr } = await home.perdure(["run", "coder", "--", "true"]);
  const retired = await home.perdure(["retire", "coder"]);

  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("is being taken over") as string });
  expect(retired.code).toBe(4);
  home.killRun(worker.run?.id ?? "");
  expect(await takeover).toMatchObject({ displaced: worker.run?.id, generation: 2 });
});

test("a program that ignores TERM is killed after the delay, with everything it started", async () => {
  const worker = await startStubborn();

  expect(await home.json(["takeover", "coder", "--kill-after", "0"])).toMatchObject({ killed: true });

  expect(home.processesOf(worker.run?.id ?? "")).toEqual([]);
});

test("takeover of a free name says so and changes no generation", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const { stdout } = await home.perdure(["takeover", "coder"]);
  expect(stdout).toBe("api/coder was already free\n");
  expect(await home.until("coder", () => true)).toMatchObject({ generation: 1, run: null, state: "stopped" });
});
