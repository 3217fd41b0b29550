import { expect, it, onTestFinished } from "vitest";
import type { Admitted } from "../../../src/protocol/records/mail.ts";
import { eventually } from "../../support/check.ts";
import { fleetHome } from "../../support/fleet-home.ts";
import { finish, type Finished, type Home } from "../../support/home.ts";
import { TurnHome } from "../../support/turn-home.ts";

// What whoever waits for an answer is told: on standard error, one line for each change.

const LOOPER = `[workers.looper]\ncommand = ["sh", "-c", "echo no network; exit 1"]\n[workers.idler]\ncommand = ["sleep", "600"]\n`;

/** Asks, and collects what is told until it has the words; then interrupts the asker. */
async function askedUntil(home: Home, args: string[], words: string): Promise<Finished & { signal: string | null }> {
  const child = home.spawn(args);
  let told = "";
  child.stderr?.on("data", (chunk: Buffer) => (told += String(chunk)));
  const finished = finish(child);
  await eventually(`${args[0]} to tell ${words}`, () => told.includes(words), 12_000).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${told}`);
  });
  child.kill("SIGINT");
  const end = await finished;
  return { ...end, signal: child.signalCode };
}

it("a question that was not taken was not asked", async () => {
  const home = fleetHome(LOOPER);
  const { code, stderr } = await home.perdure(["ask", "nobody", "x", "--id", "q"]);
  expect({ code, stderr }).toMatchObject({ code: 3 });
  expect(stderr).toMatch(/^perdure: There is no worker "nobody"/);
});

it("a question and a message to a worker that will not start by itself say so, and what to do", async () => {
  const home = fleetHome(LOOPER, { PERDURE_RESTART_WAIT_MS: "1" });
  await home.up("looper");
  await home.until("looper", ({ state }) => state === "crash-looping");
  const why = /is crash-looping \(.+\) and does not start by itself; the message stays → perdure logs \S*looper\n/;
  const asked = await askedUntil(home, ["ask", "looper", "x", "--id", "q"], "perdure logs");
  expect(asked.stderr).toMatch(/^asked looper \(q\)\n/);
  expect(asked.stderr).toMatch(why);
  expect(asked).toMatchObject({ stdout: "", signal: "SIGINT" });
  expect(asked.stderr).toContain(
    "q to looper stays; its answer goes to your inbox → perdure mail q; to take it back: perdure cancel q\n",
  );
  const sent = await home.perdure(["send", "looper", "x", "--id", "s"]);
  expect(sent).toMatchObject({ code: 0, stdout: "s  api/looper  queued\n" });
  expect(sent.stderr).toMatch(why);
  const { need } = await home.json<Admitted>(["send", "looper", "x", "--id", "j"]);
  expect(need).toMatchObject({ state: "crash-looping", next: [{ verb: "logs", args: ["api/looper"] }] });
});

it("a question that is asked with --json tells nothing beside the answer", async () => {
  const home = fleetHome(LOOPER);
  const { code, stderr } = await home.perdure(["ask", "idler", "x", "--json", "--timeout", "300ms"]);
  expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
});

it("a question to a name that only the file has says that nobody brought it up, and that the file is not trusted", async () => {
  const home = fleetHome(LOOPER);
  const { stderr } = await askedUntil(home, ["ask", "idler", "x"], "perdure trust");
  expect(stderr).toContain("idler was never brought up; the question waits for it → perdure up idler\n");
  expect(stderr).toMatch(/idler starts nothing yet: perdure\.toml is not trusted as it is now → perdure trust\n/);
  await home.up("idler");
});

it("a turn of a worker that runs says where its text goes, and that it stays", async () => {
  const home = fleetHome(`[defaults]\nvendor = "scripted"\n[workers.writer]\n`);
  await home.up();
  await home.untilIdle();
  const { stderr } = await askedUntil(home, ["turn", "writer", "summarize", "--id", "q"], "has been told");
  expect(stderr).toMatch(
    /writer is idle; delivered in a moment\n(?:.*\n)*writer has been told; waiting for its reply\n/,
  );
  expect(stderr).toContain("q to writer stays; its answer goes to your inbox → perdure mail q\n");
});

it("a question to a worker of turns says when the worker is held, while it is waited for", async () => {
  const home = new TurnHome(`[workers.critic]\n`);
  onTestFinished(() => home.clear());
  await home.up();
  const { stderr } = await askedUntil(home, ["ask", "critic", "[[login]]", "--id", "q"], "on-hold");
  expect(stderr).toContain("critic is asleep; delivered in a turn of its own\n");
  expect(stderr).toMatch(
    /critic is on-hold \(.*[Nn]ot logged in.*\) and does not start by itself; the message stays → /,
  );
});
