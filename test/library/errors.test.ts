import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bounds, connect, PerdureError, type Perdure, type StartOptions } from "../../src/index.ts";
import { Home } from "../support/home.ts";

let home: Home;
let perdure: Perdure;
beforeAll(async () => {
  home = new Home();
  perdure = await connect({ env: home.env, cwd: home.project });
});
afterAll(async () => {
  await perdure.close();
  await home.clear();
});

const nothing = undefined as unknown as string;
const nothingAtAll = null as unknown as Record<string, never>;
type Custom = NonNullable<StartOptions["custom"]>;

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) expect(item).toBeDefined();
}

const MISTAKES: [what: string, make: () => Promise<unknown>][] = [
  ["a folder that is not there", () => connect({ env: home.env, cwd: join(home.dir, "gone") })],
  ["no daemon", () => connect({ env: { ...home.env, PERDURE_HOME: join(home.dir, "other") }, autostart: false })],
  ["a name that is none", () => perdure.claim("two words")],
  ["a number as a name", () => perdure.claim(42 as unknown as string)],
  ["nobody to send to", () => perdure.send(nothing, "x")],
  ["nothing to send", () => perdure.send("coder", nothing)],
  ["a text that is too long", () => perdure.send("operator", "x".repeat(bounds.messageBytes + 1))],
  ["half of a character to send", () => perdure.send("operator", "half \ud83d")],
  ["half of a character to ask", () => perdure.ask("operator", "half \ud83d")],
  ["half of a character in a file's name", () => perdure.send("operator", "x", { attach: ["half \ud83d"] })],
  ["somebody unknown to send to", () => perdure.send("nobody-here", "x")],
  ["an unknown message to reply to", () => perdure.reply("no-such-id", "x")],
  ["an unknown worker to stop", () => perdure.stop("nobody-here")],
  ["an unknown worker to take over", () => perdure.takeover("nobody-here")],
  ["an unknown worker to rename", () => perdure.rename("nobody-here", "other")],
  ["a name to rename to that is none", () => perdure.rename("nobody-here", "../x")],
  ["an unknown worker to look at", () => drained(perdure.inbox("nobody-here"))],
  ["an unknown worker to drill", () => drained(perdure.drill(["nobody-here"]))],
  ["an unknown conversation", () => perdure.adopt("coder", { conversation: "no-such-conversation" })],
  ["no fleet file", () => perdure.up({ trust: true })],
  ["an unknown saved session", () => perdure.resume("never-saved", { trust: true })],
  ["a saved session that cannot be called so", () => perdure.save("a/b")],
  ["an empty key", () => perdure.piSession(" ")],
  ["no key", () => perdure.piSession(nothing)],
  ["nothing to archive", () => perdure.context.archive("done")],
  ["nothing to log", () => perdure.context.log(nothing)],
  ["options that are null, to claim", () => perdure.claim("coder", nothingAtAll)],
  ["options that are null, to start", () => perdure.start("coder", ["true"], nothingAtAll)],
  ["options that are null, to stop", () => perdure.stop("coder", nothingAtAll)],
  ["options that are null, to send", () => perdure.send("operator", "y", nothingAtAll)],
  ["options that are null, to list", () => drained(perdure.list(nothingAtAll))],
  ["options that are null, to read events", () => drained(perdure.events(nothingAtAll))],
  ["options that are null, to connect", () => connect(nothingAtAll)],
  ["a text as the options", () => perdure.up("coder" as unknown as object)],
  ["no options to adopt by", () => perdure.adopt("coder", nothingAtAll)],
  ["no conversation to adopt", () => perdure.adopt("coder", {})],
  ["a text as a command", () => perdure.start("coder", "true" as unknown as string[])],
  ["a word of a command that no program can be given", () => perdure.start("coder", ["a\0b"])],
  ["words of one's own that are none", () => perdure.start("coder", ["true"], { custom: {} as unknown as Custom })],
  ["a text as the workers to stop", () => perdure.down("coder" as unknown as string[])],
  ["a text as the workers to drill", () => drained(perdure.drill("coder" as unknown as string[]))],
  ["a text as the files to attach", () => perdure.send("operator", "y", { attach: "x" as unknown as string[] })],
  ["no handler for turns", () => perdure.turns("coder", nothing as unknown as () => void)],
  ["a number as a folder", () => connect({ env: home.env, cwd: 42 as unknown as string })],
  ["a folder that no system has", () => connect({ env: home.env, cwd: "/tmp/a\0b" })],
  ["a key that no file can be called by", () => perdure.piSession("a\0b")],
  ["a key of half a megabyte", () => perdure.piSession("x".repeat(500_000))],
  ["a time that is none", () => perdure.ask("operator", "y", { timeoutMs: Number.NaN })],
  ["a time that nobody lives to see", () => perdure.ask("operator", "y", { timeoutMs: bounds.askMs + 1 })],
  ["a time to stop in that is none", () => perdure.takeover("coder", { killAfterMs: 1e18 })],
  ["an answer that does not come", () => perdure.ask("operator", "x", { timeoutMs: 1 })],
];

it.each(MISTAKES)("%s is a PerdureError", async (_what, make) => {
  const thrown = await make().then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(PerdureError);
  expect((thrown as PerdureError).code).not.toBe("internal");
});

it("keeps the store whole, whatever was refused", async () => {
  const [message] = (await home.json<{ messages: { body: string }[] }>(["mail", "--state", "all"])).messages;
  expect(message?.body).toBe("x");
});

it("says what is wrong with perdure.toml, as a PerdureError", async () => {
  const folder = join(home.dir, "broken");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "perdure.toml"), "name = [\n");
  await expect(connect({ env: home.env, cwd: folder })).rejects.toBeInstanceOf(PerdureError);
  rmSync(folder, { recursive: true });
});

it("disposal never hides the user's own error", async () => {
  const own = new Error("mine");
  const leaving = (async () => {
    await using second = await connect({ env: home.env, cwd: home.project });
    await using lease = await second.claim("left");
    expect(lease.address).toBe("api/left");
    // With its connection closed, the lease cannot be given back.
    await second.close();
    throw own;
  })();
  await expect(leaving).rejects.toBe(own);
});
