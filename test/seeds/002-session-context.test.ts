import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseRunId } from "../../src/protocol/run-id.ts";
import { BIN, Home } from "../support/home.ts";

// The seed: session-context files of agents that share a project. Each test's name is what the seed says, in its words; the tests
// share one home, in which perdure.toml says `ext = "org"`.

let home: Home;
beforeAll(() => {
  home = new Home();
  writeFileSync(join(home.project, "perdure.toml"), '[context]\next = "org"\n');
});
afterAll(() => home.clear());

const FOLDER = ".ai/session-context.d";

async function pathFor(id?: string): Promise<string> {
  const env = id === undefined ? home.env : { ...home.env, AI_AGENT_ID: id };
  return (await home.perdure(["context", "path"], { env })).stdout.trim();
}

/** Runs a shell text as a worker; returns what it printed. */
async function worker(name: string, script: string): Promise<string> {
  return (await home.perdure(["run", name, "--", "sh", "-c", script])).stdout.trim();
}

function textOf(path: string): string {
  return readFileSync(join(home.project, path), "utf8");
}

interface Recovered {
  anchors: { worker: string; run: string; path: string }[];
  live: { worker: string }[];
  foreign: { id: string | null; path: string }[];
}

test("AI_AGENT_ID unset or empty: .ai/session-context.org, exactly as before", async () => {
  expect(await pathFor()).toBe(".ai/session-context.org");
  expect(await pathFor("")).toBe(".ai/session-context.org");
});

test("AI_AGENT_ID set: .ai/session-context.d/<id>.org (id sanitized to filename-safe chars)", async () => {
  const ids = ["velox.rulesets.claude.1718400000", "codex", "a/b", "a_b", "A_B", "../x"];
  const paths = await Promise.all(ids.map((id) => pathFor(id)));
  expect(paths.slice(0, 2)).toEqual([`${FOLDER}/velox.rulesets.claude.1718400000.org`, `${FOLDER}/codex.org`]);
  for (const path of paths) expect(path).toMatch(/^\.ai\/session-context\.d\/[A-Za-z0-9._~-]+\.org$/);
  // The seed maps several ids to one file; here each has its own, where file systems ignore case, too.
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(ids.length);
});

test("the spawner makes it so by appending an epoch on the tail: host.project.runtime.<epoch>", async () => {
  const ids = [await worker("claude", 'echo "$AI_AGENT_ID"'), await worker("claude", 'echo "$AI_AGENT_ID"')];
  for (const id of ids) {
    expect(id.split(".")).toHaveLength(4);
    expect(parseRunId(id)).toMatchObject({ project: "api", worker: "claude" });
  }
  expect(new Set(ids).size).toBe(2);
});

test("a fresh run of the same logical agent then resolves to a fresh anchor", async () => {
  const first = await worker("fresh", `${BIN} context path; ${BIN} context log one >/dev/null`);
  const second = await worker("fresh", `${BIN} context path; test -e "$(${BIN} context path)" && echo there`);
  expect(textOf(first)).toContain("one");
  expect(second).toMatch(/\.org$/);
  expect(second).not.toBe(first);
});

test("that resolver is called many times per session and must return the same path on every call", async () => {
  const calls = Array.from({ length: 5 }, () => `sh -c '${BIN} context path'`).join("; ");
  const paths = (await worker("steady", `${calls}; echo ".ai/session-context.d/$AI_AGENT_ID.org"`)).split("\n");
  expect(paths).toHaveLength(6);
  expect(new Set(paths).size).toBe(1);
});

test("never minted inside session-context-path: the shell that runs each call doesn't carry env between calls", async () => {
  // Only what the spawner injects counts: without it the same shell is nobody.
  const script = `${BIN} context path; env -u AI_AGENT_ID ${BIN} context path; AI_AGENT_ID=other ${BIN} context path`;
  const [own, nobody, other] = (await worker("injected", script)).split("\n");
  expect(own).toContain("injected");
  expect([nobody, other]).toEqual([".ai/session-context.org", `${FOLDER}/other.org`]);
});

test("everything operates on that resolved path: recovery, log writes, the startup existence check, the wrap-up rename", async () => {
  const path = await worker("whole", `${BIN} context log working >/dev/null; ${BIN} context path; kill -9 $$`);
  expect(textOf(path)).toMatch(/^- \S+Z working\n$/);
  const { anchors } = await home.json<Recovered>(["context", "recover"]);
  expect(anchors.filter(({ worker: name }) => name === "whole").map((each) => each.path)).toEqual([
    join(home.project, path),
  ]);
  const told = await worker(
    "whole",
    `echo "$PERDURE_PREDECESSOR_CONTEXT"; ${BIN} context log on; ${BIN} context archive wrapped up`,
  );
  const [predecessor, logged, archived = ""] = told.split("\n");
  expect(predecessor).toBe(join(home.project, path));
  expect(existsSync(join(home.project, logged ?? ""))).toBe(false);
  expect(textOf(archived)).toContain("on");
});

test("archived at wrap-up to .ai/sessions/YYYY-MM-DD-HH-MM-<id>-<description>.org so concurrent agents don't collide", async () => {
  const wrapUp = `${BIN} context log x >/dev/null; ${BIN} context archive same words`;
  const archived = await Promise.all([worker("left", wrapUp), worker("right", wrapUp)]);
  for (const [index, name] of ["left", "right"].entries()) {
    expect(archived[index]).toMatch(
      new RegExp(String.raw`^\.ai/sessions/\d{4}(-\d\d){4}-[\w.~-]*\.api\.${name}\.\d+-same-words\.org$`),
    );
  }
});

test("two agents share one project at the same time", async () => {
  const script = `${BIN} context log "from $PERDURE_NAME" >/dev/null; ${BIN} context path; exec sleep 600`;
  const paths = await Promise.all(
    ["one", "two"].map(async (name) => {
      const child = home.spawn(["run", name, "--", "sh", "-c", script]);
      return new Promise<string>((resolve) =>
        child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim())),
      );
    }),
  );
  expect(paths.map((path) => textOf(path).replace(/^- \S+ /, ""))).toEqual(["from one\n", "from two\n"]);
  const { live } = await home.json<Recovered>(["context", "recover"]);
  expect(live.map(({ worker: name }) => name)).toEqual(["one", "two"]);
});

test("a bare, reused id (just codex) makes the next run resolve to the previous run's leftover codex.org", async () => {
  leftover("codex.org");
  // A worker of that name neither mistakes it for a crashed session of its own nor clobbers it.
  const [path, predecessor] = (
    await worker(
      "codex",
      `${BIN} context log new >/dev/null; ${BIN} context path; echo "[$PERDURE_PREDECESSOR_CONTEXT]"`,
    )
  ).split("\n");
  expect(path).not.toBe(`${FOLDER}/codex.org`);
  expect(predecessor).toBe("[]");
  expect(textOf(`${FOLDER}/codex.org`)).toBe("left behind\n");
  const { anchors, foreign } = await home.json<Recovered>(["context", "recover"]);
  expect(anchors.map(({ path: each }) => each)).not.toContain(join(home.project, FOLDER, "codex.org"));
  expect(foreign.map(({ id }) => id)).toContain("codex");
});

test("a codex run left session-context.d/codex.org behind, and the next session had to clean it up by hand", async () => {
  leftover("codex.org");
  const listed = await home.perdure(["context", "recover", "--foreign"]);
  expect(listed.stdout).toMatch(/^codex +\S+ +\S.* +\.ai\/session-context\.d\/codex\.org$/m);
  const young = await home.perdure(["context", "sweep"]);
  expect(young.stdout).not.toContain("codex.org");
  const { swept } = await home.json<{ swept: { id: string; to: string }[] }>(["context", "sweep", "--foreign"]);
  expect(swept.map(({ id }) => id)).toEqual(["codex"]);
  expect(readFileSync(swept[0]?.to ?? "", "utf8")).toBe("left behind\n");
  expect(readdirSync(join(home.project, FOLDER))).not.toContain("codex.org");
});

test("the leftover of another tool, or of another setting, is found and swept under its own extension", async () => {
  leftover("gemini.org");
  const args = ["--foreign", "--ext", "md"];
  const { foreign } = await home.json<Recovered>(["context", "recover", ...args]);
  expect(foreign.map(({ id }) => id)).toContain("gemini");
  const { swept } = await home.json<{ swept: { to: string }[] }>(["context", "sweep", ...args]);
  expect(swept.map(({ to }) => to)).toEqual([expect.stringMatching(/-gemini-swept\.org$/)]);
});

test("or clobber it if both run at once: two runs that are given one id have an anchor each", async () => {
  const script = `${BIN} context log "from $PERDURE_NAME" >/dev/null; ${BIN} context path`;
  const env = { ...home.env, AI_AGENT_ID: "codex" };
  const said = await Promise.all(
    ["left", "right"].map((name) => home.perdure(["run", name, "--", "sh", "-c", script], { env })),
  );
  const texts = said.map(({ stdout }) => textOf(stdout.trim()).replace(/^- \S+ /, ""));
  expect(texts).toEqual(["from left\n", "from right\n"]);
});

test("one dangling link keeps neither recover nor sweep from the others", async () => {
  leftover("other.org");
  symlinkSync("/nonexistent", join(home.project, FOLDER, "dangling.org"));
  const told = { stderr: expect.stringContaining("dangling.org is a symbolic link") as string };
  const listed = await home.perdure(["context", "recover", "--foreign"]);
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("other.org") as string, ...told });
  const swept = await home.perdure(["context", "sweep", "--foreign"]);
  expect(swept).toMatchObject({ code: 0, stdout: expect.stringContaining("-other-swept.org") as string, ...told });
});

/** Leaves the anchor of an id that perdure did not mint, a month old. */
function leftover(name: string): void {
  mkdirSync(join(home.project, FOLDER), { recursive: true });
  const file = join(home.project, FOLDER, name);
  writeFileSync(file, "left behind\n");
  utimesSync(file, new Date(), new Date(Date.now() - 30 * 86_400_000));
}
