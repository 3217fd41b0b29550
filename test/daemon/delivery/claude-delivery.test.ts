import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MailStep, MessageRecord } from "../../../src/protocol/records/mail.ts";
import { readIfThere } from "../../../src/state/files.ts";
import { eventually } from "../../support/check.ts";
import { BIN } from "../../support/home.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import type { Talk } from "../../support/talk.ts";
import { identityOf, McpAgent } from "../mcp/agent.ts";

const installPersona = personaInstaller();

interface Shown {
  message: MessageRecord;
  steps: MailStep[];
}

async function send({ home }: InstalledPersona, to: string, text: string, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await home.perdure(["send", to, text, ...more, "--json"]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return (JSON.parse(stdout) as { id: string }).id;
}

function show({ home }: InstalledPersona, id: string): Promise<Shown> {
  return home.json<Shown>(["mail", id]);
}

async function untilState(persona: InstalledPersona, id: string, state: string): Promise<Shown> {
  await eventually(`${id} to be ${state}`, async () => (await show(persona, id)).message.state === state);
  return show(persona, id);
}

async function states(persona: InstalledPersona, id: string): Promise<string[]> {
  return (await show(persona, id)).steps.map(({ state }) => state);
}

async function transcript(persona: InstalledPersona): Promise<string> {
  const { sessions } = await persona.history("w");
  return readFileSync(sessions.find(({ current }) => current)?.transcript?.file ?? "", "utf8");
}

function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe("mail to a claude that is stopped", () => {
  it("is in the next headless run, with the daemon killed in between, once", async () => {
    const persona = installPersona("claude");
    const headless = (prompt: string): string[] => ["run", "w", "--", "claude", ...persona.facts.headless(prompt)];
    await persona.home.perdure(headless("one"));
    const id = await send(persona, "w", "the build is red");
    process.kill(persona.home.daemonPid() ?? 0, "SIGKILL");
    expect(await persona.home.perdure(headless("two"))).toMatchObject({ code: 0 });
    await persona.untilEndRecorded("w");
    expect(await states(persona, id)).toEqual(["queued", "offered", "injected", "read"]);
    expect(times(await transcript(persona), "the build is red")).toBe(1);
    await persona.home.perdure(headless("three"));
    expect(times(await transcript(persona), "the build is red")).toBe(1);
  });

  it("never prolongs a headless run", async () => {
    const persona = installPersona("claude");
    const first = await persona.home.perdure(["run", "w", "--", "claude", ...persona.facts.headless("one")]);
    expect(first.code).toBe(0);
    await send(persona, "w", "x");
    const second = await persona.home.perdure(["run", "w", "--", "claude", ...persona.facts.headless("two")]);
    // One answer, to the prompt that was given.
    expect(times(second.stdout, "turns=")).toBe(1);
    expect(second.stdout).toContain("last=two");
  });
});

describe("mail to a claude that runs", () => {
  it("wakes it when it is idle, and is read when the turn is over", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w");
    await talk.say("one");
    const id = await send(persona, "w", "please look");
    await talk.until(/last=Another Claude session sent a message:/);
    const { steps } = await untilState(persona, id, "read");
    expect(steps.map(({ state }) => state)).toEqual(["queued", "offered", "injected", "read"]);
    expect(steps[1]?.reason).toBe("by its inbox socket");
    expect(await transcript(persona)).toContain("please look");
    await talk.end();
  });

  it("is not put before the model of another worker whose conversation it looks into", async () => {
    const persona = installPersona("claude");
    const other = await persona.begin("other");
    await other.say("theirs");
    const theirs = (await persona.untilProved("other")).session?.id ?? "";
    await other.end();
    const talk = await persona.begin("w");
    await talk.say("one");
    const own = (await persona.untilProved("w")).session?.id ?? "";
    await talk.say(`/resume ${theirs}`);
    await persona.until("w", "to be seen there", ({ attention }) => attention?.includes(theirs) === true);
    const sent = await persona.home.perdure(["send", "w", "for w alone", "--json"]);
    const { id, outlook } = JSON.parse(sent.stdout) as { id: string; outlook: string };
    expect(outlook).toBe("when it is back in its own conversation");
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    await eventually("the mail to wait for a hook", () => existsSync(folder));
    // A turn there, with all its hooks, takes nothing along.
    expect(await talk.say("two")).toContain("first=theirs");
    expect(await states(persona, id)).toEqual(["queued"]);

    await talk.say(`/resume ${own}`);
    const { steps } = await untilState(persona, id, "read");
    expect(steps.map(({ state }) => state)).toEqual(["queued", "offered", "injected", "read"]);
    expect(await transcript(persona)).toContain("for w alone");
    const [{ transcript: shown } = { transcript: null }] = (await persona.history("other")).sessions;
    expect(readFileSync(shown?.file ?? "", "utf8")).not.toContain("for w alone");
    await talk.end();
  });

  it("goes along with the prompt of a person who was faster", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w");
    await talk.say("one");
    const { address } = await persona.show("w");
    expect((await persona.home.perdure(["pause", "w"])).code).toBe(0);
    const id = await send(persona, "w", "while you are at it");
    expect(await states(persona, id)).toEqual(["queued"]);
    expect(address).toBe("api/w");
    await talk.say("two");
    expect(await states(persona, id)).toEqual(["queued"]);
    expect((await persona.home.perdure(["pause", "w", "--off"])).code).toBe(0);
    await untilState(persona, id, "read");
    await talk.end();
  });

  it("is not taken twice: what the agent reads itself is withdrawn", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const id = await send(persona, "w", "for you");
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    await eventually("the mail to wait for a hook", () => existsSync(folder));
    // In bypass mode nobody is woken; it waits for the next prompt.
    expect(await states(persona, id)).toEqual(["queued"]);
    const cancelled = await persona.home.perdure(["cancel", id]);
    expect(cancelled.code).toBe(0);
    await eventually("the mail to be withdrawn", () => !existsSync(folder));
    await talk.say("two");
    expect(await transcript(persona)).not.toContain("for you");
    await talk.end();
  });

  it("is offered again, and says so, when the run was killed before it was seen", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const id = await send(persona, "w", "lost?");
    const run = (await persona.show("w")).run?.id ?? "";
    const folder = join(persona.home.state, "runs", run, "mail");
    await eventually("the mail to wait for a hook", () => existsSync(folder));
    // A hook that took it, of an agent that was killed before it could write anything down.
    renameSync(folder, join(persona.home.state, "runs", run, "taken.prompt.1.0"));
    talk.kill("SIGKILL");
    persona.home.killRun(run);
    await untilState(persona, id, "queued");
    const { talk: again } = await persona.resume("w");
    await again.say("two");
    await untilState(persona, id, "read");
    const text = await transcript(persona);
    expect(times(text, "lost?")).toBe(1);
    expect(text).toContain("again: an earlier run may have seen it");
    await again.end();
  });

  it("is a finding of doctor's for as long as it has not arrived, after it could not be handed over", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const id = await send(persona, "w", "not yet");
    const run = (await persona.show("w")).run?.id ?? "";
    const folder = join(persona.home.state, "runs", run, "mail");
    await eventually("the mail to wait for a hook", () => existsSync(folder));
    writeFileSync(join(folder, "failed"), "the disk was full");
    renameSync(folder, join(persona.home.state, "runs", run, "taken.prompt.1.0"));
    const found = async (): Promise<string[]> => {
      const { findings } = await persona.home.json<{ findings: { check: string; message: string }[] }>(["doctor"]);
      return findings.filter(({ check }) => check === "w").map(({ message }) => message);
    };
    const message = `mail ${id} has not reached its agent, not by its prompt hook: the disk was full`;
    await eventually("the finding", async () => (await found()).includes(message));
    await eventually("the mail to wait for a hook again", () => existsSync(folder));
    await talk.say("two");
    await untilState(persona, id, "read");
    expect(await found()).not.toContain(message);
    await talk.end();
  });

  it("waits with later mail for the next hook, though the next daemon finds what hooks took in the time of the last one", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const first = await send(persona, "w", "the first");
    const { session, run } = await persona.show("w");
    const runDir = join(persona.home.state, "runs", run?.id ?? "");
    await eventually("the mail to wait for a hook", () => existsSync(join(runDir, "mail")));
    process.kill(persona.home.daemonPid() ?? 0, "SIGKILL");
    // A piece that the conversation shows by now: its mark is a word of it.
    const taken = join(runDir, "taken.stop.1.0");
    mkdirSync(taken, { mode: 0o700 });
    writeFileSync(join(taken, "piece.json"), JSON.stringify({ mark: "turns=1", ids: ["gone"], transcriptBytes: 0 }));
    writeFileSync(join(taken, "session"), session?.id ?? "");
    const second = await send(persona, "w", "the second");
    await eventually("both to wait for a hook", () => {
      const waiting = readIfThere(join(runDir, "mail", "piece.json")) ?? "";
      return waiting.includes(first) && waiting.includes(second);
    });
    await talk.say("two");
    await untilState(persona, second, "read");
    const text = await transcript(persona);
    expect([first, second].map((id) => times(text, `Message ${id} from`))).toEqual([1, 1]);
    await talk.end();
  });

  it.each(["paused for a while", "removed by the agent"])(
    "is left for the next hook again after it was %s",
    async (how) => {
      const persona = installPersona("claude");
      const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
      await talk.say("one");
      const id = await send(persona, "w", "still here");
      const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
      await eventually("the mail to wait for a hook", () => existsSync(folder));
      if (how.startsWith("paused")) {
        await persona.home.perdure(["pause", "w"]);
        await eventually("the mail to be taken back", () => !existsSync(folder));
        await persona.home.perdure(["pause", "w", "--off"]);
      } else {
        rmSync(folder, { recursive: true });
        await send(persona, "w", "and another");
      }
      await eventually("the mail to wait once more", () => existsSync(folder));
      await talk.say("two");
      await untilState(persona, id, "read");
      expect(times(await transcript(persona), "still here")).toBe(1);
      await talk.end();
    },
  );
});

describe("mail that is longer than what claude tells its model of a hook's text", () => {
  const LONG = `${"a line of a diff\n".repeat(1_000)}the end`;

  it("is only announced by the hook, and stays in the mailbox", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const id = await send(persona, "w", LONG);
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    await eventually("the mail to wait for a hook", () => existsSync(join(folder, "prompt")));
    // No turn is prolonged for an announcement.
    expect(existsSync(join(folder, "stop"))).toBe(false);
    await talk.say("two");
    await eventually("the announcement", async () =>
      (await transcript(persona)).includes("It is too long to stand here"),
    );
    expect(await transcript(persona)).not.toContain("a line of a diff");
    expect((await show(persona, id)).message.state).toBe("queued");
    await talk.end();
  });

  it("is told whole when it is woken", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w");
    await talk.say("one");
    const id = await send(persona, "w", LONG);
    await untilState(persona, id, "read");
    expect(await transcript(persona)).toContain("the end");
    await talk.end();
  });
});

describe("mail that waits for a hook of a claude in bypass mode", () => {
  /** Starts a worker that nobody wakes, with two messages that wait for its next hook. */
  async function twoWaiting(): Promise<{
    persona: InstalledPersona;
    talk: Talk;
    ids: string[];
    waiting: () => string;
  }> {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const ids = [await send(persona, "w", "the first"), await send(persona, "w", "the second")];
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    const waiting = (): string => readIfThere(join(folder, "prompt")) ?? "";
    await eventually("both to wait for a hook", () => ids.every((id) => waiting().includes(`Message ${id}`)));
    return { persona, talk, ids, waiting };
  }

  it("goes on waiting when other mail of the worker is cancelled", async () => {
    const { persona, talk, ids, waiting } = await twoWaiting();
    expect((await persona.home.perdure(["cancel", ids[0] ?? ""])).code).toBe(0);
    await eventually("the second alone", () => waiting().includes("the second") && !waiting().includes("the first"));
    await talk.say("two");
    await untilState(persona, ids[1] ?? "", "read");
    await talk.end();
  });

  it("prolongs no more turns than may be begun by mail", async () => {
    const persona = installPersona("claude");
    writeFileSync(join(persona.home.project, "perdure.toml"), "[mail]\nwakes_per_hour = 1\n");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    const first = await send(persona, "w", "the first");
    await eventually("the mail to wait", () => existsSync(join(folder, "stop")));
    // So that the end of the turn has it, and not its prompt.
    rmSync(join(folder, "prompt"));
    await talk.say("two");
    await untilState(persona, first, "read");
    await send(persona, "w", "the second");
    await eventually("the mail to wait for a prompt", () => existsSync(join(folder, "prompt")));
    expect(existsSync(join(folder, "stop"))).toBe(false);
    await persona.home.until(
      "w",
      ({ state, attention }) => state === "on-hold" && attention?.includes("woken 1 time") === true,
    );
    await talk.end();
  });

  it("does not come as new mail once the agent has answered it", async () => {
    const { persona, talk, ids, waiting } = await twoWaiting();
    const run = (await persona.show("w")).run?.id ?? "";
    const agent = await McpAgent.start(persona.home, identityOf(persona.home, run));
    await agent.result("reply", { id: ids[0], text: "done" });
    await agent.close();
    await eventually("the second alone", () => waiting().includes("the second") && !waiting().includes("the first"));
    expect((await show(persona, ids[0] ?? "")).message.state).toBe("answered");
    await talk.end();
  });
});

describe("mail of a nested agent", () => {
  /** Sends as an agent that another worker's agent has started; returns the message's id. */
  async function sendNested({ home }: InstalledPersona, text: string): Promise<string> {
    const bin = join(home.dir, "agents");
    mkdirSync(bin, { recursive: true });
    // Shells that are called like agents: what counts is the program's name in the process tree.
    for (const agent of ["gemini", "codex"]) copyFileSync("/bin/bash", join(bin, agent));
    const inner = `${BIN} send w "${text}" --json; true`;
    const words = [
      "run",
      "helper",
      "--",
      "/bin/sh",
      "-c",
      `${bin}/gemini -c '${bin}/codex -c "${inner.replaceAll('"', '\\"')}"; true'; true`,
    ];
    const { stdout, stderr } = await home.perdure(words);
    expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining('"id"') as string });
    return (JSON.parse(stdout) as { id: string }).id;
  }

  it("is only announced where hooks speak as the system, and waits for whoever reads it", async () => {
    const persona = installPersona("claude");
    const headless = (prompt: string): string[] => ["run", "w", "--", "claude", ...persona.facts.headless(prompt)];
    await persona.home.perdure(headless("one"));
    const id = await sendNested(persona, "from below");
    expect(await persona.home.perdure(headless("two"))).toMatchObject({ code: 0 });
    await persona.untilEndRecorded("w");
    const text = await transcript(persona);
    expect(text).toContain(`Message ${id} from api/helper~nested`);
    expect(text).not.toContain("from below");
    expect((await show(persona, id)).message.state).toBe("queued");
  });

  it("is announced once, and told whole by a channel that does not speak as the system", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", ["--dangerously-skip-permissions"]);
    await talk.say("one");
    const id = await sendNested(persona, "from below");
    const folder = join(persona.home.state, "runs", (await persona.show("w")).run?.id ?? "", "mail");
    await eventually("the mail to wait for a hook", () => existsSync(folder));
    await talk.say("two");
    // At the end of a turn the text is the user's, so the message waits for that alone; a quick daemon is in time for this turn's.
    await eventually("the mail to be told at the end of a turn, or to wait for that", async () => {
      const waits = existsSync(join(folder, "stop")) && !existsSync(join(folder, "prompt"));
      return waits || (await show(persona, id)).message.state !== "queued";
    });
    await talk.say("three");
    await untilState(persona, id, "read");
    // The answers quote what was told.
    const lines = (await transcript(persona)).split("\n");
    const text = lines.filter((line) => !line.includes('"type":"assistant"')).join("\n");
    expect(times(text, `Message ${id} from api/helper~nested`)).toBe(2);
    expect(times(text, "Read it with: perdure inbox")).toBe(1);
    expect(times(text, "from below")).toBe(1);
    await talk.end();
  });
});
