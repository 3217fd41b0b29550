import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { pasteChannel } from "../../../src/daemon/delivery/paste.ts";
import type { TmuxServer } from "../../../src/runtime/tmux/server.ts";
import type { WakePlace } from "../../../src/vendors/delivery.ts";
import { adapterOf } from "../../../src/vendors/index.ts";
import { composerOf } from "../../../src/vendors/shared/composer.ts";
import { eventually } from "../../support/check.ts";
import { TmuxFixture } from "../../runtime/tmux/tmux-fixture.ts";

const MARK = "m-0123456789abcdef";
const HEAD = `perdure mail (${MARK})`;
const REST = " for api/w:\n\n/clear\n!ls";
const TEXT = `${HEAD}${REST}`;
const FRAMES = `\u001b[200~${HEAD}\u001b[201~\u001b[200~${REST}\u001b[201~`;
const HANDED = { mark: MARK, lines: 4 };

const FORM = composerOf({
  above: /^-{20}$/,
  below: /^={20}$/,
  empty: /^> say something$/,
  prompt: /^> /,
  pasted: (lines) => `\\[${lines}lines\\]`,
});

const PLACE: WakePlace = {
  runDir: "/",
  configDir: "/",
  cwd: "/",
  session: "x",
  pid: null,
  args: [],
  program: () => null,
  ask: () => Promise.reject(new Error("nobody asks")),
};

/**
 * Draws an input line, shows a longer paste as its number of lines, takes Enter, and writes down every byte. The words are what a person
 * has typed.
 */
const PROGRAM = `
  const [file, typed, behind, above] = process.argv.slice(1);
  const { appendFileSync } = require("node:fs");
  const draw = (line) => process.stdout.write("\\x1b[2J\\x1b[H" + above + "\\r\\n" + "-".repeat(20) + "\\r\\n> " + (line || "say something") + "\\r\\n" + "=".repeat(20) + "\\r\\n");
  const shown = (text) => text.includes("\\n") ? "[" + text.split("\\n").length + " lines]" + behind : text;
  process.stdin.setRawMode(true);
  process.stdout.write("\\x1b[?2004h");
  draw(typed);
  let all = "";
  process.stdin.on("data", (bytes) => {
    appendFileSync(file, bytes);
    all += bytes;
    const line = all.slice(all.lastIndexOf("\\r") + 1);
    draw(typed + [...line.matchAll(/\\x1b\\[200~([^]*?)\\x1b\\[201~/g)].map(([, text]) => shown(text)).join(""));
  });
`;

const fixtures: TmuxFixture[] = [];
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.clear();
});

interface Screen {
  typed?: string;
  /** The keys that a person types right behind the paste. */
  behind?: string;
}

interface Started {
  fixture: TmuxFixture;
  server: TmuxServer;
  run: string;
  got: () => string;
}

async function started({ typed = "", behind = "" }: Screen): Promise<Started> {
  const fixture = new TmuxFixture();
  fixtures.push(fixture);
  const server = fixture.server();
  const file = join(fixture.dir, "got");
  const request = fixture.request("w", [process.execPath, "-e", PROGRAM, "--", file, typed, behind, "hello"]);
  await server.start(request);
  await eventually("its input", async () => (await server.view(request.run))?.screen.includes("=====") ?? false);
  return { fixture, server, run: request.run, got: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

/** Pastes as a daemon that dies right then, before Enter; returns the server as the next daemon finds it. */
async function leftBehind({ fixture, server, run, got }: Started): Promise<TmuxServer> {
  await server.paste(run, [HEAD, REST], MARK);
  server.close();
  await eventually("the paste", () => got() === FRAMES);
  await eventually("its line", () => fixture.tmux("capture-pane", "-p", "-t", "api").includes("4 lines]"));
  return fixture.server();
}

test("an idle program gets one frame for the head, one for all the rest, and Enter behind them", async () => {
  const { server, run, got } = await started({});
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE, MARK)).toBe(true);
  await eventually("Enter", () => got().endsWith("\r"));
  expect(got()).toBe(`${FRAMES}\r`);
});

test("what a person has begun to type is left alone", async () => {
  const { server, run, got } = await started({ typed: "please do n" });
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE, MARK)).toBe(false);
  expect(got()).toBe("");
});

test("what a person types behind the paste is not sent", async () => {
  const { server, run, got } = await started({ behind: " and" });
  const channel = pasteChannel(server, run, FORM);
  expect(await channel.wake(TEXT, PLACE, MARK)).toBe(true);
  expect(await channel.finish?.(HANDED, PLACE)).toBe("in the input line");
  expect(got()).toBe(FRAMES);
});

test("the next daemon presses Enter for one that died before that, once", async () => {
  const before = await started({});
  const next = await leftBehind(before);
  const channel = pasteChannel(next, before.run, FORM);
  expect(await channel.finish?.(HANDED, PLACE)).toBe("given now");
  await eventually("Enter", () => before.got().endsWith("\r"));
  await eventually("an empty line", async () => FORM.isEmpty((await next.view(before.run))?.screen ?? ""));
  expect(await channel.finish?.(HANDED, PLACE)).toBe("nowhere");
  expect(before.got()).toBe(`${FRAMES}\r`);
});

test.each([
  ["a person has typed behind it", { behind: " and" }, HANDED],
  ["a person has typed before it", { typed: "no: " }, HANDED],
  ["it has another number of lines", {}, { ...HANDED, lines: 5 }],
])("the next daemon presses no key where %s", async (_why, screen, handed) => {
  const before = await started(screen);
  const next = await leftBehind(before);
  expect(await pasteChannel(next, before.run, FORM).finish?.(handed, PLACE)).toBe("in the input line");
  expect(before.got()).toBe(FRAMES);
});

test("the next daemon knows what the one before it never came to paste", async () => {
  const before = await started({});
  const next = await leftBehind(before);
  const other = { mark: "m-fedcba9876543210", lines: 4 };
  expect(await pasteChannel(next, before.run, FORM).finish?.(other, PLACE)).toBe("never given");
  expect(before.got()).toBe(FRAMES);
});

test("a pane in which a person scrolls is left alone, and a run without a pane has none", async () => {
  const { server, run, got } = await started({});
  fixtures[0]?.tmux("copy-mode", "-t", "api");
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE, MARK)).toBe(false);
  expect(await pasteChannel(server, "host.api.other.1", FORM).wake(TEXT, PLACE, MARK)).toBe(false);
  expect(await pasteChannel(server, "host.api.other.1", FORM).finish?.(HANDED, PLACE)).toBe("nowhere");
  expect(got()).toBe("");
});

test.each(["\u001b", "\r", "\u0003", "\u0000", "\u007f", "\u009b", "\ud800"])(
  "%j is never pasted",
  async (character) => {
    const { server, run, got } = await started({});
    await expect(server.paste(run, ["head", `a${character}b`], MARK)).rejects.toThrow(/is not pasted into a terminal/);
    expect((await server.view(run))?.pasted).toBe("");
    expect(got()).toBe("");
  },
);

const FRAME = { gemini: ["▄".repeat(110), "▀".repeat(110)], claude: ["─".repeat(110), "─".repeat(110)] };

test.each([
  ["gemini", " >   Type your message or @path/to/file", true],
  ["gemini", " *   Type your message or @path/to/file", true],
  ["gemini", " !   Type your shell command", false],
  ["gemini", " > he", false],
  ["claude", "❯\u00A0", true],
  ["claude", "❯ he", false],
  ["claude", "! ", false],
] as const)("the input of %s: %j", (vendor, line, isEmpty) => {
  const [above, below] = FRAME[vendor];
  const paste = adapterOf(vendor)?.delivery?.paste;
  const screen = ["hello", above, " > hello", below, "answer", above, line, below, " footer"].join("\n");
  expect(paste?.isEmpty(screen)).toBe(isEmpty);
  // A dialog has taken the place of the input: what was said before is above it.
  expect(paste?.isEmpty(`${screen}\n${"Allow it?\n1. Yes\n2. No\n3. Never\n".repeat(2)}`)).toBe(false);
});

test.each([
  ["gemini", [" > HEAD[Pasted Text: 9 lines]"], true],
  ["gemini", [" > perdure mail (m-0123456789", "   abcdef)[Pasted Text: 9", "   lines]"], true],
  ["gemini", [" > HEAD[Pasted Text: 19 lines]"], false],
  ["gemini", [" > [Pasted Text: 9 lines]"], false],
  ["gemini", [" > heHEAD[Pasted Text: 9 lines]"], false],
  ["gemini", [" > HEAD[Pasted Text: 9 lines]y"], false],
  ["gemini", [" > HEAD[Pasted Text: 9 lines]", "   y"], false],
  ["gemini", [" ! HEAD[Pasted Text: 9 lines]"], false],
  ["claude", ["❯ HEAD[Pasted text #2 +8 lines]"], true],
  ["claude", ["❯ perdure mail", "  (m-0123456789abcdef)[Pasted text #2 +8 lines]"], true],
  ["claude", ["❯ heHEAD[Pasted text #2 +8 lines]"], false],
] as const)("a paste of nine lines in %s: %j", (vendor, lines, isPasted) => {
  const [above, below] = FRAME[vendor];
  const drawn = lines.map((line) => line.replace("HEAD", HEAD));
  const screen = ["hello", above, ...drawn, below, " footer"].join("\n");
  const paste = adapterOf(vendor)?.delivery?.paste;
  expect(paste?.isPasted(screen, HEAD, 9)).toBe(isPasted);
  expect(paste?.isEmpty(screen)).toBe(false);
  expect(paste?.hasTyped(screen, HEAD)).toBe(drawn[0]?.startsWith(" !") === false && !drawn[0]?.startsWith(" > [P"));
});
