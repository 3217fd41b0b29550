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

const TEXT = "perdure mail for api/w (m-1):\n\n/clear\n!ls";

const FORM = composerOf({
  above: /^-{20}$/,
  below: /^={20}$/,
  empty: /^> say something$/,
  pasted: (lines) => new RegExp(`^> \\[${lines} lines\\]$`),
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

/** Draws an input line, shows a paste as its number of lines, and writes down every byte. The words are what a person has typed. */
const PROGRAM = `
  const [file, typed, behind, above] = process.argv.slice(1);
  const { appendFileSync } = require("node:fs");
  const draw = (line) => process.stdout.write("\\x1b[2J\\x1b[H" + above + "\\r\\n" + "-".repeat(20) + "\\r\\n" + line + "\\r\\n" + "=".repeat(20) + "\\r\\n");
  process.stdin.setRawMode(true);
  process.stdout.write("\\x1b[?2004h");
  draw("> " + (typed || "say something"));
  let all = "";
  process.stdin.on("data", (bytes) => {
    appendFileSync(file, bytes);
    all += bytes;
    const pasted = /\\x1b\\[200~([^]*)\\x1b\\[201~/.exec(all);
    if (pasted) draw("> " + typed + "[" + pasted[1].split("\\n").length + " lines]" + behind);
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

async function started({
  typed = "",
  behind = "",
}: Screen): Promise<{ server: TmuxServer; run: string; got: () => string }> {
  const fixture = new TmuxFixture();
  fixtures.push(fixture);
  const server = fixture.server();
  const file = join(fixture.dir, "got");
  const request = fixture.request("w", [process.execPath, "-e", PROGRAM, "--", file, typed, behind, "hello"]);
  await server.start(request);
  await eventually("its input", async () => (await server.view(request.run))?.screen.includes("=====") ?? false);
  return { server, run: request.run, got: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

test("an idle program gets one frame, and Enter behind it", async () => {
  const { server, run, got } = await started({});
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE)).toBe(true);
  await eventually("Enter", () => got().endsWith("\r"));
  expect(got()).toBe(`\u001b[200~${TEXT}\u001b[201~\r`);
});

test("what a person has begun to type is left alone", async () => {
  const { server, run, got } = await started({ typed: "please do n" });
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE)).toBe(false);
  expect(got()).toBe("");
});

test("what a person types behind the paste is not sent", async () => {
  const { server, run, got } = await started({ behind: " and" });
  await expect(pasteChannel(server, run, FORM).wake(TEXT, PLACE)).rejects.toThrow("Enter was not pressed");
  expect(got()).toBe(`\u001b[200~${TEXT}\u001b[201~`);
});

test("a pane in which a person scrolls is left alone, and a run without a pane has none", async () => {
  const { server, run, got } = await started({});
  fixtures[0]?.tmux("copy-mode", "-t", "api");
  expect(await pasteChannel(server, run, FORM).wake(TEXT, PLACE)).toBe(false);
  expect(await pasteChannel(server, "host.api.other.1", FORM).wake(TEXT, PLACE)).toBe(false);
  expect(got()).toBe("");
});

test.each(["\u001b", "\r", "\u0003", "\u0000", "\u007f", "\u009b", "\ud800"])(
  "%j is never pasted",
  async (character) => {
    const { server, run, got } = await started({});
    await expect(server.paste(run, `a${character}b`)).rejects.toThrow(/is not pasted into a terminal/);
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
  ["gemini", " > [Pasted Text: 9 lines]", true],
  ["gemini", " > [Pasted Text: 19 lines]", false],
  ["gemini", " > he[Pasted Text: 9 lines]", false],
  ["gemini", " > [Pasted Text: 9 lines]y", false],
  ["claude", "❯ [Pasted text #2 +8 lines]", true],
  ["claude", "❯ he[Pasted text #2 +8 lines]", false],
] as const)("a paste of nine lines in %s: %j", (vendor, line, isPasted) => {
  const [above, below] = FRAME[vendor];
  expect(adapterOf(vendor)?.delivery?.paste?.isPasted([above, line, below].join("\n"), 9)).toBe(isPasted);
});
