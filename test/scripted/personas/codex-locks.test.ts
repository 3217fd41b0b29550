import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodexHome } from "./codex-home.ts";

let home: CodexHome;
beforeEach(() => {
  home = new CodexHome();
});
afterEach(() => home.clear());

test("one writer: held from the launch by the process itself, refused to a second, free after a kill", async () => {
  const id = await home.mint("coder");
  const talk = home.open(["--no-daemon", "resume", id]);
  await talk.answer();
  expect(writers(id)).toEqual([talk.pid]);
  expect(openLocks(talk.pid)).toEqual([home.lockOf(id)]);
  expect(readFileSync(`/proc/${talk.pid}/cmdline`, "utf8").split("\0")[0]).toBe("codex");

  for (const args of [
    ["resume", id],
    ["exec", "resume", id, "x"],
  ]) {
    expect(await home.run(args)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`thread ${id} already has an active writer`) as string,
    });
  }
  talk.kill("SIGKILL");
  await talk.ended;
  expect((await home.run(["exec", "resume", id, "x"])).stdout).toBe("turns=1 first=x last=x\n");
});

test("a new conversation is locked before it has a file, and no child inherits the lock", async () => {
  const talk = home.open([]);
  const id = /session +([0-9a-f-]{36})/.exec(await talk.answer())?.[1] ?? "";
  expect(writers(id)).toEqual([talk.pid]);
  expect(inheritable(talk.pid, home.lockOf(id))).toBe(false);
  expect(home.rollouts()).toEqual([]);
  expect(await talk.say("/print inner")).toContain("turns=1 first=inner");
  expect(home.rollouts()).toHaveLength(1);
  await talk.say("hello");
  expect(home.rolloutOf(id)).not.toBe("");
  talk.kill("SIGTERM");
  expect(await talk.ended).toMatchObject({ code: 143 });
  expect(writers(id)).toEqual([]);
});

test("/new takes another lock beside the first", async () => {
  const talk = home.open([]);
  const first = /session +([0-9a-f-]{36})/.exec(await talk.answer())?.[1] ?? "";
  const second = /session ([0-9a-f-]{36})/.exec(await talk.say("/new"))?.[1] ?? "";
  expect(second).not.toBe(first);
  expect(openLocks(talk.pid).toSorted()).toEqual([home.lockOf(first), home.lockOf(second)].toSorted());
  await talk.say("hello");
  expect(await home.run(["exec", "resume", second, "x"])).toMatchObject({ code: 1 });
  await talk.end();
  expect(await home.run(["exec", "resume", second, "x"])).toMatchObject({ code: 0 });
});

/** Who holds the lock, as the kernel lists it. */
function writers(id: string): number[] {
  const { ino } = statSync(home.lockOf(id));
  const held = readFileSync("/proc/locks", "utf8").matchAll(/FLOCK +ADVISORY +WRITE (\d+) \w+:\w+:(\d+) /g);
  const pids = [...held].filter(([, , node]) => Number(node) === ino).map(([, pid]) => Number(pid));
  // The kernel gives the list out in pieces: one that changes in between may have a line in two of them.
  return [...new Set(pids)];
}

function openLocks(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((fd) => readlinkSync(join(folder, fd)))
    .filter((file) => file.endsWith(".lock"));
}

/** Would a child have it open too, and hold the lock after this process? */
function inheritable(pid: number, file: string): boolean {
  const fd = readdirSync(`/proc/${pid}/fd`).find((each) => readlinkSync(`/proc/${pid}/fd/${each}`) === file);
  const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "";
  const CLOSE_ON_EXEC = 0o2000000;
  return (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
