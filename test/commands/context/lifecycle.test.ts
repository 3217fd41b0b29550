import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { BIN, finish, Home, type Finished } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

interface Recovered {
  anchors: { path: string; worker: string; generation: number }[];
  live: { worker: string }[];
  foreign: { path: string }[];
}

/** A worker that logs one line and then does the rest of the shell text. */
async function worker(name: string, then: string): Promise<void> {
  await home.perdure(["run", name, "--", "sh", "-c", `${BIN} context log "from ${name}"; ${then}`]);
}

function archived(): string[] {
  return readdirSync(join(home.project, ".ai/sessions"));
}

describe("after a crash", () => {
  it("recover shows exactly the run that ended without archiving", async () => {
    await worker("crashed", "kill -9 $$");
    await worker("tidy", `${BIN} context archive all done`);
    const lives = home.spawn(["run", "living", "--", "sh", "-c", `${BIN} context log here; echo; exec sleep 600`]);
    await new Promise((resolve) => lives.stdout?.once("data", resolve));
    await home.perdure(["context", "log", "no id"]);

    const recovered = await home.json<Recovered>(["context", "recover"]);
    expect(recovered.anchors.map(({ worker: name }) => name)).toEqual(["crashed"]);
    expect(recovered.live.map(({ worker: name }) => name)).toEqual(["living"]);
    expect(recovered.foreign.map(({ path }) => path)).toEqual([join(home.project, ".ai/session-context.md")]);
    expect(archived()[0]).toMatch(/^\d{4}(-\d\d){4}-.*tidy.*-all-done\.md$/);
  });

  it("recover looks into every working tree of the project", async () => {
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    home.git(["worktree", "add", "-q", "../tree"]);
    const script = `${BIN} context log important; kill -9 $$`;
    await home.perdure(["run", "elsewhere", "--", "sh", "-c", script], { cwd: join(home.dir, "tree") });
    const { anchors } = await home.json<Recovered>(["context", "recover"]);
    expect(anchors).toMatchObject([{ worker: "elsewhere", path: expect.stringContaining("/tree/.ai/") as string }]);
  });

  it("the worker's next run is told where its predecessor's context is", async () => {
    await worker("coder", "kill -9 $$");
    const [left] = (await home.json<Recovered>(["context", "recover"])).anchors;
    const tell = ["run", "coder", "--", "sh", "-c", 'echo "$PERDURE_PREDECESSOR_CONTEXT"'];
    const next = await home.perdure(tell);
    expect(next.stdout).toBe(`${left?.path}\n`);
    expect(next.stderr).toContain("left its context");
    const other = await home.perdure(["run", "other", ...tell.slice(2)]);
    expect(other.stdout).toBe("\n");
  });

  it("the next run is told of it in another working tree, too", async () => {
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    home.git(["worktree", "add", "-q", "../tree"]);
    const tree = join(home.dir, "tree");
    const log = ["run", "coder", "--", "sh", "-c", `${BIN} context log "in the tree"; kill -9 $$`];
    await home.perdure(log, { cwd: tree });
    const { stdout } = await home.perdure(["run", "coder", "--", "sh", "-c", 'echo "$PERDURE_PREDECESSOR_CONTEXT"']);
    expect(dirname(stdout)).toBe(join(tree, ".ai/session-context.d"));
    expect(readFileSync(stdout.trim(), "utf8")).toContain("in the tree");
  });

  it("a run that was displaced neither logs nor archives", async () => {
    const script = `${BIN} context log begun; trap "" TERM; echo; read -r _; ${BIN} context log late; ${BIN} context archive late; echo end; exec sleep 600`;
    const child = home.spawn(["run", "coder", "--", "sh", "-c", script], { stdio: ["pipe", "pipe", "pipe"] });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const taken = home.spawn(["takeover", "coder", "--kill-after", "20"]);
    const run = (await home.until("coder", ({ state }) => state === "displaced")).run?.id ?? "";
    let said = "";
    child.stderr?.on("data", (data: Buffer) => (said += data.toString()));
    await eventually("the note of displacement", () => existsSync(join(home.state, "runs", run, "displaced")));
    const ended = new Promise<void>((resolve) => {
      child.stdout?.on("data", (data: Buffer) => void (data.toString().includes("end") && resolve()));
    });
    child.stdin?.write("\n");
    await ended;
    expect(said.match(/was displaced: the context belongs to whoever has coder now/g)).toHaveLength(2);
    const [file = ""] = readdirSync(join(home.project, ".ai/session-context.d"));
    expect(readFileSync(join(home.project, ".ai/session-context.d", file), "utf8")).not.toContain("late");
    home.killRun(run);
    await finish(taken);
  });

  it("what is wrong in one tree keeps nothing of another one back, and is told", async () => {
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    for (const name of ["a", "b", "c"]) home.git(["worktree", "add", "-q", `../${name}`]);
    const crash = ["run", "coder", "--", "sh", "-c", `${BIN} context log hi; kill -9 $$`];
    for (const name of ["a", "b"]) await home.perdure(crash, { cwd: join(home.dir, name) });
    symlinkSync("/nonexistent/folder", join(home.dir, "a", ".ai", "sessions"));
    mkdirSync(join(home.dir, "c", ".ai"));
    symlinkSync("/nonexistent/folder", join(home.dir, "c", ".ai", "session-context.d"));
    symlinkSync("/nonexistent/file", join(home.dir, "b", ".ai", "session-context.d", "dangling.md"));
    const recovered = await home.json<Recovered & { unusable: unknown[] }>(["context", "recover"]);
    expect(recovered.anchors).toHaveLength(2);
    expect(recovered.unusable).toHaveLength(2);
    const swept = await home.perdure(["context", "sweep", "--older-than", "0"]);
    expect(swept.code).toBe(5);
    expect(swept.stdout).toContain("../b/.ai/sessions/");
    expect(swept.stderr).toMatch(/was not archived: .*a dangling link/);
    expect(swept.stderr).toContain("dangling.md is a symbolic link");
  });

  it("sweep --foreign leaves what a live process is called after", async () => {
    for (const id of ["gone", "here"]) {
      await home.perdure(["context", "log", "hi"], { env: { ...home.env, AI_AGENT_ID: id } });
    }
    const here = spawn("sleep", ["600"], { env: { ...home.env, AI_AGENT_ID: "here" } });
    const { swept } = await home.json<{ swept: { id: string }[] }>([
      "context",
      "sweep",
      "--foreign",
      "--older-than",
      "0",
    ]);
    here.kill("SIGKILL");
    expect(swept.map(({ id }) => id)).toEqual(["gone"]);
  });

  it("sweep archives what is old, tells first with --dry-run, and never touches a live run's", async () => {
    await worker("crashed", "exit 1");
    const { child } = await home.start("living", ["sh", "-c", `${BIN} context log here; echo; exec sleep 600`]);
    await new Promise((resolve) => child.stdout?.once("data", resolve));

    const dry = await home.json<{ swept: { to: string | null }[] }>([
      "context",
      "sweep",
      "--older-than",
      "0",
      "--dry-run",
    ]);
    expect(dry.swept).toMatchObject([{ to: null }]);
    expect((await home.json<{ swept: unknown[]; kept: number }>(["context", "sweep"])).kept).toBe(1);

    await home.perdure(["context", "sweep", "--older-than", "0"]);
    expect(archived()).toHaveLength(1);
    const after = await home.json<Recovered>(["context", "recover"]);
    expect(after).toMatchObject({ anchors: [], live: [{ worker: "living" }] });
  });
});

describe("context log and archive", () => {
  it("keeps every line whole under twenty writers of fifty lines", async () => {
    // Of each writer's lines a few are whole commands; the others follow each other as fast as a process can write them.
    const log = `i=0; while [ $i -lt 5 ]; do ${BIN} context log "$1 line $i" >/dev/null || exit 1; i=$((i+1)); done`;
    const entries = join(import.meta.dirname, "../../../src/project/context-entry.ts");
    const file = join(home.project, ".ai/session-context.d/shared.md");
    const append = `import { appendEntry } from ${JSON.stringify(entries)};
      const [, root, file, name] = process.argv;
      for (let i = 5; i < 50; i++) appendEntry(root, file, name + " line " + i);`;
    // The writers are shells of the test's own: what is tested is the file, not the lease.
    const env = { ...home.env, AI_AGENT_ID: "shared" };
    const start = (words: string[]): Promise<Finished> =>
      finish(spawn(words[0] ?? "", words.slice(1), { cwd: home.project, env, stdio: ["ignore", "pipe", "pipe"] }));
    const writers = Array.from({ length: 20 }, (_, index) => `writer-${index}`).flatMap((name) => [
      start(["sh", "-c", log, "sh", name]),
      start([process.execPath, "--input-type=module", "-e", append, home.project, file, name]),
    ]);
    for (const { code, stderr } of await Promise.all(writers)) expect({ code, stderr }).toMatchObject({ code: 0 });
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(1000);
    expect(new Set(lines.map((line) => /^- \S+Z (writer-\d+ line \d+)$/.exec(line)?.[1])).size).toBe(1000);
  }, 120_000);

  it("never overwrites an archived session", async () => {
    for (const text of ["one", "two", "three"]) {
      await home.perdure(["context", "log", text]);
      expect((await home.perdure(["context", "archive", "same"])).code).toBe(0);
    }
    const texts = archived().map((name) => readFileSync(join(home.project, ".ai/sessions", name), "utf8"));
    const words = texts.map((text) => text.trimEnd().split(" ").at(-1));
    expect(new Set(words)).toEqual(new Set(["one", "two", "three"]));
  });

  it("says so when there is nothing to archive", async () => {
    const { code, stderr } = await home.perdure(["context", "archive", "x"]);
    expect(code).toBe(3);
    expect(stderr).toContain("context log");
  });

  it.each([
    ["a link to nothing", (path: string) => symlinkSync("/nonexistent/folder", path)],
    ["a link to itself", (path: string) => symlinkSync(basename(path), path)],
    ["a file", (path: string) => writeFileSync(path, "")],
    ["a link to a file", (path: string) => symlinkSync("/dev/null", path)],
  ])("B2: says what is wrong where a folder of context files is %s", async (what, make) => {
    for (const [index, place] of [".ai", ".ai/session-context.d", ".ai/sessions"].entries()) {
      const cwd = join(home.dir, `p${index}`);
      mkdirSync(join(cwd, dirname(place)), { recursive: true });
      make(join(cwd, place));
      for (const words of [["log", "hi"], ["archive"], ["recover"], ["sweep"], ["path"]]) {
        const { code, stderr } = await home.perdure(["context", ...words], { cwd });
        expect(`${code} ${stderr}`, `${words[0]}: ${place} is ${what}`).not.toMatch(/^1 |\bE[A-Z]{4,}\b/);
      }
    }
  });

  it("writes nothing through a link that leads outside the project", async () => {
    const outside = join(home.dir, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(home.project, ".ai"));
    const { code } = await home.perdure(["context", "log", "secret"]);
    expect(code).toBe(5);
    expect(readdirSync(outside)).toEqual([]);
  });
});
