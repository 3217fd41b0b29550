import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Identity } from "../../src/project/whoami.ts";
import type { MessageRecord } from "../../src/protocol/records/mail.ts";
import type { History } from "../../src/protocol/records/run.ts";
import { BIN, Home, type Finished } from "../support/home.ts";

// The first document that perdure grew from: "Pinned, restart-stable session identity for addressing workers across relaunches".
// Each test is called what the document says, and shows what becomes of it here.

let home: Home;
beforeAll(() => {
  home = new Home();
});
afterAll(() => home.clear());

interface Place {
  env?: Record<string, string>;
  cwd?: string;
}

/** A folder of its own for one test: a project without workers. */
function folder(name: string, config: string | null = null): string {
  const made = join(home.dir, name);
  mkdirSync(made, { recursive: true });
  if (config !== null) writeFileSync(join(made, "perdure.toml"), config);
  return made;
}

function perdure(args: string[], { env = {}, cwd = home.project }: Place = {}): Promise<Finished> {
  return home.perdure(args, { env: { ...home.env, ...env }, cwd });
}

function whoami({ env = {}, cwd = home.project }: Place = {}): Promise<Identity> {
  return home.json<Identity>(["whoami"], { env: { ...home.env, ...env }, cwd });
}

function bodies({ stdout }: Finished): string[] {
  return (JSON.parse(stdout) as { messages: MessageRecord[] }).messages.map(({ body }) => body);
}

async function runsOf(name: string, place: Place = {}): Promise<History["runs"]> {
  return (JSON.parse((await perdure(["history", name, "--json"], place)).stdout) as History).runs;
}

/** A conversation of Pi's whose user has typed `/name`. */
function namedPi(name: string): Record<string, string> {
  const file = join(home.dir, `${name}.jsonl`);
  writeFileSync(file, `{"type":"session","id":"s"}\n${JSON.stringify({ type: "session_info", name })}\n`);
  return { PI_SESSION_FILE: file };
}

describe("There is no stable, restart-surviving handle for addressing a logical worker", () => {
  it("a parent that cached the handle gets no 'Session not found' after the worker restarts", async () => {
    const cwd = folder("cached");
    await perdure(["run", "DCA-worker", "--", "true"], { cwd });
    const [first] = await runsOf("DCA-worker", { cwd });
    await perdure(["run", "DCA-worker", "--", "true"], { cwd });
    for (const handle of ["DCA-worker", "cached/dca-WORKER", first?.id ?? ""]) {
      expect(await perdure(["send", handle, `to ${handle}`], { cwd })).toMatchObject({ code: 0 });
    }
    const read = await perdure(["run", "DCA-worker", "--", BIN, "inbox", "--json"], { cwd });
    expect(bodies(read)).toEqual(["to DCA-worker", "to cached/dca-WORKER", `to ${first?.id}`]);
  });

  it("the fallback alias is tied to a single process lifetime, and so never carries mail", async () => {
    const alias = await whoami({ env: { AI_AGENT_ID: "subagent-chat-019eb2da" } });
    expect(alias).toMatchObject({ source: "fallback", durable: false, actor: "operator" });
    expect(await perdure(["send", alias.name, "hello"])).toMatchObject({ code: 2 });
  });

  it("the id of a run does not change on every reconnect", async () => {
    const { worker } = await home.start("connected", ["sleep", "600"]);
    process.kill(home.daemonPid() ?? 0, "SIGKILL");
    expect((await home.until("connected", ({ run }) => run !== null)).run).toEqual(worker.run);
  });
});

describe("a session can pin its name, so a relaunched worker has the same address with no manual /name", () => {
  it("PI_INTERCOM_SESSION_NAME: a launcher pins a stable name per worker role", async () => {
    const cwd = folder("roles");
    for (const role of ["dca", "reviewer"]) {
      const env = { PI_INTERCOM_SESSION_NAME: role };
      for (const generation of [1, 2]) {
        const { stdout, stderr } = await perdure(["run", "--", BIN, "whoami", "--json"], { env, cwd });
        expect(JSON.parse(stdout)).toMatchObject({ address: `roles/${role}`, generation, actor: "worker" });
        expect(stderr).toContain(`roles/${role}, by environment:PI_INTERCOM_SESSION_NAME`);
      }
    }
    // "this is the same DCA-worker as before": also the command is, where nothing is said.
    await perdure(["run"], { env: { PERDURE_NAME: "dca" }, cwd });
    expect((await runsOf("dca", { cwd })).map(({ generation }) => generation)).toEqual([3, 2, 1]);
  });

  it("PI_INTERCOM_STABLE_ID: the id that pi-intercom came to know, an address of perdure's among them", async () => {
    const cwd = folder("stable");
    const source = "environment:PI_INTERCOM_STABLE_ID";
    expect(await whoami({ cwd, env: { PI_INTERCOM_STABLE_ID: "dca" } })).toMatchObject({
      address: "stable/dca",
      source,
    });
    expect(await whoami({ cwd, env: { PI_INTERCOM_STABLE_ID: "web/dca" } })).toMatchObject({
      address: "web/dca",
      source,
    });
    const both = { PI_INTERCOM_STABLE_ID: "web/dca", PI_INTERCOM_SESSION_NAME: "shown" };
    expect(await whoami({ cwd, env: both })).toMatchObject({ address: "stable/shown" });
  });

  it("a config field pins it, for non-launcher setups", async () => {
    const cwd = folder("configured", 'name = "solo"\n');
    expect(await perdure(["run", "--", "true"], { cwd })).toMatchObject({ code: 0 });
    expect(await runsOf("solo", { cwd })).toHaveLength(1);
    // The config of the user, for every folder, as ~/.pi/agent/intercom/config.json is.
    const folderOfConfig = join(home.dir, "own-config");
    mkdirSync(join(folderOfConfig, "perdure"), { recursive: true });
    writeFileSync(join(folderOfConfig, "perdure", "config.toml"), 'name = "everywhere"\n');
    const place = { cwd: folder("anywhere"), env: { XDG_CONFIG_HOME: folderOfConfig } };
    expect(await perdure(["run", "--", "true"], place)).toMatchObject({ code: 0 });
    expect(await whoami(place)).toMatchObject({ address: "anywhere/everywhere", source: "user-config" });
    expect(await whoami({ ...place, cwd })).toMatchObject({ address: "configured/solo", source: "project-config" });
  });

  it("a launcher that is a worker itself pins another name for what it starts, before and after it is renamed", async () => {
    const cwd = folder("launching");
    const asks = `for step in 1 2; do until [ -e go$step ]; do sleep 0.1; done
      PERDURE_NAME=role "$0" whoami --json > said$step; PERDURE_NAME=role "$0" run -- true; done`;
    const child = home.spawn(["run", "launcher", "--", "sh", "-c", asks, BIN], { cwd });
    const ended = once(child, "close");
    await expect.poll(() => runsOf("launcher", { cwd })).toHaveLength(1);
    const [run] = await runsOf("launcher", { cwd });
    writeFileSync(join(cwd, "go1"), "");
    await expect.poll(() => runsOf("role", { cwd }).catch(() => [])).toHaveLength(1);
    await perdure(["rename", "launcher", "chief"], { cwd });
    writeFileSync(join(cwd, "go2"), "");
    await ended;
    const said = [1, 2].map((step) => JSON.parse(readFileSync(join(cwd, `said${step}`), "utf8")) as Identity);
    const pinned = { address: "launching/role", run: null, actor: "worker" };
    expect(said).toMatchObject([
      { ...pinned, supervisor: run?.id },
      { ...pinned, supervisor: "launching/chief" },
    ]);
    expect(await runsOf("role", { cwd })).toHaveLength(2);
  });

  it("env wins over config wins over /name/fallback", async () => {
    const cwd = folder("precedence");
    const env: Record<string, string> = {};
    expect(await whoami({ cwd, env })).toMatchObject({ source: "fallback" });
    Object.assign(env, namedPi("by-name"));
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-name", source: "session" });
    folder("precedence", 'name = "by-config"\n');
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-config", source: "project-config" });
    env.PI_INTERCOM_STABLE_ID = "by-id";
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-id" });
    env.PI_INTERCOM_SESSION_NAME = "by-env";
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-env" });
    env.PERDURE_NAME = "by-launcher";
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-launcher", source: "environment" });
    for (const name of ["PERDURE_NAME", "PI_INTERCOM_SESSION_NAME", "PI_INTERCOM_STABLE_ID"]) env[name] = " \t";
    expect(await whoami({ cwd, env })).toMatchObject({ name: "by-config" });
    for (const blank of ["", "  "]) {
      folder("precedence", `name = "${blank}"\n`);
      expect(await whoami({ cwd, env })).toMatchObject({ name: "by-name", source: "session" });
    }
  });

  it("`run` without a name takes /name, too, and says what to do where nothing is pinned", async () => {
    const cwd = folder("unpinned");
    expect(await perdure(["run", "--", "true"], { cwd, env: namedPi("typed") })).toMatchObject({ code: 0 });
    const { code, stderr } = await perdure(["run", "--", "true"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/NAME is missing.*\n.*PERDURE_NAME=NAME/);
  });

  it("PI_SUBAGENT_INTERCOM_SESSION_NAME does not set the session's advertised presence name", async () => {
    const env = { PI_SUBAGENT_INTERCOM_SESSION_NAME: "child", PI_SUBAGENT_ORCHESTRATOR_TARGET: "parent" };
    expect(await whoami({ env })).toMatchObject({ source: "fallback" });
  });

  it("a pinned name that is none is told with its variable, and never replaced by another", async () => {
    const env = { PI_INTERCOM_SESSION_NAME: "two words" };
    const { code, stderr } = await perdure(["whoami"], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/"two words" is not a name \(PI_INTERCOM_SESSION_NAME\).*\n.*try two-words/);
  });

  it("the pinned name takes the context file, too", async () => {
    const path = async (env: Record<string, string>): Promise<string> =>
      (await perdure(["context", "path"], { env })).stdout.trim();
    expect(await path({})).toBe(".ai/session-context.md");
    expect(await path(namedPi("typed"))).toBe(".ai/session-context.md");
    expect(await path({ PI_INTERCOM_SESSION_NAME: "DCA" })).toBe(".ai/session-context.d/dca.md");
    expect(await path({ PI_INTERCOM_SESSION_NAME: "DCA", AI_AGENT_ID: "h.p.r.1" })).toContain("/h.p.r.1.md");
  });
});

describe("the pinned name still needs to propagate promptly", () => {
  it("a renamed worker is found by both names, and knows its new one while it runs", async () => {
    const asks = 'until [ -e go ]; do sleep 0.1; done; exec "$0" whoami --json > said';
    const { child } = await home.start("early", ["sh", "-c", asks, BIN]);
    await perdure(["rename", "early", "late"]);
    writeFileSync(join(home.project, "go"), "");
    await once(child, "close");
    const said = JSON.parse(readFileSync(join(home.project, "said"), "utf8")) as Identity;
    expect(said).toMatchObject({ address: "api/late", actor: "worker" });
    expect(await perdure(["send", "early", "hello"])).toMatchObject({ stderr: expect.stringContaining("api/late") });
    const read = await perdure(["inbox", "late", "--json"]);
    expect(bodies(read)).toEqual(["hello"]);
  });
});

describe("a stable identifier rather than a possibly-duplicate display name", () => {
  it("a pinned name is not left to its author for uniqueness: the lease decides, and the second is told of the first", async () => {
    const { worker } = await home.start("sole", ["sleep", "600"]);
    const { code, stderr } = await perdure(["run"], { env: { PI_INTERCOM_SESSION_NAME: "Sole" } });
    expect(code).toBe(4);
    expect(stderr).toContain(`is held by run ${worker.run?.id}, pid ${worker.run?.pid}`);
    expect(stderr).toContain("perdure takeover api/sole");
  });
});

describe("a shell that is only pinned", () => {
  it("is the operator, says so once, and looks at the worker's mail without taking it", async () => {
    const cwd = folder("shell", 'name = "solo"\n');
    await perdure(["run", "solo", "--", BIN, "send", "operator", "done"], { cwd });
    const sent = await perdure(["send", "solo", "first"], { cwd });
    expect(sent.stderr).toBe(
      "perdure: pinned to shell/solo (by project-config), but without the token of its run: you act as the operator\n",
    );
    for (let looks = 0; looks < 2; looks++) {
      const looked = await perdure(["inbox", "--json"], { cwd });
      expect(bodies(looked)).toEqual(["first"]);
    }
    expect((await perdure(["inbox"], { cwd })).stderr).toMatch(/you act as the operator.*\n +1 message to you/);
    expect((await perdure(["inbox", "--wait", "1s"], { cwd })).code).toBe(2);
    expect(bodies(await perdure(["inbox", "operator", "--json"], { cwd }))).toEqual(["done"]);
    expect(bodies(await perdure(["inbox", "operator", "--json"], { cwd }))).toEqual([]);
    // Its run takes the same message, and the operator's question is answered by the operator.
    expect(bodies(await perdure(["run", "solo", "--", BIN, "inbox", "--json"], { cwd }))).toEqual(["first"]);
    expect((await whoami({ cwd })).actor).toBe("operator");
    expect((await perdure(["whoami"], { cwd })).stdout).toContain(
      "pinned only: your mail is sent as that of the operator",
    );
  });

  it("replies as the operator, and has no mail to show of a worker that never ran", async () => {
    const cwd = folder("unborn", 'name = "solo"\n');
    await perdure(["run", "other", "--", BIN, "send", "operator", "well?", "--id", "q1"], { cwd });
    const replied = await perdure(["reply", "q1", "yes"], { cwd });
    expect(replied).toMatchObject({ code: 0, stderr: expect.stringContaining("you act as the operator") });
    const read = await perdure(["inbox", "other", "--json"], { cwd });
    expect((JSON.parse(read.stdout) as { messages: MessageRecord[] }).messages).toMatchObject([{ from: "operator" }]);
    expect(bodies(await perdure(["inbox", "--json"], { cwd }))).toEqual([]);
  });
});

describe("PI_INTERCOM_SCOPE_ID", () => {
  const scope = ["run", "w", "--", "sh", "-c", 'printf "%s" "${PI_INTERCOM_SCOPE_ID-none}"'];

  it("is not set, so that a supervisor outside of the project sees its workers", async () => {
    expect((await perdure(scope, { cwd: folder("open") })).stdout).toBe("none");
  });

  it("is what [pi] scope says, and the user's own variable wins", async () => {
    const cwd = folder("scoped", '[pi]\nscope = "team a"\n');
    expect((await perdure(scope, { cwd })).stdout).toBe("team a");
    expect((await perdure(scope, { cwd, env: { PI_INTERCOM_SCOPE_ID: " " } })).stdout).toBe("team a");
    expect((await perdure(scope, { cwd, env: { PI_INTERCOM_SCOPE_ID: "mine" } })).stdout).toBe("mine");
  });
});
