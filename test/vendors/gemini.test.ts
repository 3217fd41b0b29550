// What only gemini does: it leaves stubs beside its conversations, and needs a home of the run's own.
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gemini } from "../../src/vendors/gemini/index.ts";
import { withoutPrivateEnv } from "../../src/vendors/index.ts";
import { folder, placeIn, put, transcript, unasked, VENDORS } from "./fixtures.ts";

const vendor = VENDORS.find((each) => each.vendor === "gemini");
if (!vendor) throw new Error("gemini has no fixtures");
const { session } = vendor.facts;

const CHATS = ".gemini/tmp/api/chats";
const EARLIER = `${CHATS}/session-2026-11-16T01-00-5c1d7e90.jsonl`;
const LATER = `${CHATS}/session-2026-11-16T03-15-5c1d7e90.jsonl`;

const probe = (dir: string, lastSeen: string | null): ReturnType<typeof gemini.storage.probe> =>
  gemini.storage.probe(placeIn(dir, vendor), lastSeen, unasked);

test("the conversation is the file with something said in it, not the stubs that resumes have left", async () => {
  const dir = folder();
  put(dir, `${CHATS}/session-2026-11-16T00-59-5c1d7e90.jsonl`, transcript("gemini", "stub"));
  const file = put(dir, EARLIER, transcript("gemini", "good"));
  const stub = put(dir, LATER, transcript("gemini", "stub"));
  put(dir, ".gemini/tmp/api/.project_root", "/home/u/api");
  for (const lastSeen of [null, file, stub, join(dir, "gone.jsonl")]) {
    expect(await probe(dir, lastSeen)).toMatchObject({ state: "good", file, cwd: "/home/u/api" });
  }
  expect(await gemini.storage.list(dir, 10, unasked)).toMatchObject([
    { id: session, file, cwd: "/home/u/api", words: "again" },
  ]);
});

test("a conversation of the same eight characters is another one", async () => {
  const dir = folder();
  const theirs = transcript("gemini", "good").replaceAll(session, session.replace(/.{12}$/, "000000000000"));
  put(dir, EARLIER, theirs);
  expect(await probe(dir, null)).toMatchObject({ state: "damaged" });
  const file = put(dir, LATER, transcript("gemini", "good"));
  expect(await probe(dir, null)).toMatchObject({ state: "good", file });
});

test("with its file gone, a stub beside it does not mean that it was never begun", async () => {
  const dir = folder();
  const file = put(dir, EARLIER, transcript("gemini", "good"));
  put(dir, LATER, transcript("gemini", "stub"));
  rmSync(file);
  expect(await probe(dir, file)).toEqual({ state: "absent" });
  expect(await probe(dir, null)).toMatchObject({ state: "empty" });
});

function settingsFor(home: string): Record<string, unknown> {
  const request = {
    step: "new",
    session,
    name: "coder",
    args: [],
    prompt: null,
    transcript: null,
    from: null,
    declared: null,
  } as const;
  const { files } = gemini.launch.plan({ ...request, runDir: "/run", cwd: "/", configDir: home });
  return JSON.parse(files.find(({ name }) => name === ".gemini/settings.json")?.text ?? "") as Record<string, unknown>;
}

test("the user's settings hold, with ours beside them; comments do no harm", () => {
  const home = folder();
  const mine = { hooks: [{ type: "command", command: "echo '// no comment' /* nor this */" }] };
  const settings = {
    ui: { theme: "Dark // er" },
    general: { vimMode: true, sessionRetention: { enabled: true, maxAge: "7d" } },
    hooks: { SessionStart: [mine], AfterTool: [mine], BeforeTool: [mine] },
  };
  put(home, ".gemini/settings.json", `\uFEFF// mine\n${JSON.stringify(settings)} /* "end" */\n`);
  const merged = settingsFor(home);
  expect(merged).toMatchObject({
    ui: settings.ui,
    general: { vimMode: true, sessionRetention: { enabled: false, maxAge: "7d" } },
    hooks: {
      SessionStart: [mine, { hooks: [{ name: "perdure" }] }],
      AfterTool: [mine, { hooks: [{ name: "perdure" }] }],
      BeforeTool: [mine],
    },
  });
  expect(Object.keys(merged.hooks as object).toSorted()).toEqual([
    "AfterAgent",
    "AfterTool",
    "BeforeAgent",
    "BeforeTool",
    "Notification",
    "SessionStart",
  ]);
});

test.each(["", "{}", "[]", "// nothing yet\n"])("settings that say nothing (%j) are no settings", (text) => {
  const home = folder();
  if (text !== "") put(home, ".gemini/settings.json", text);
  expect(settingsFor(home)).toMatchObject({ general: { sessionRetention: { enabled: false } } });
});

test("settings that cannot be read are said, and nothing is started without them", () => {
  const home = folder();
  put(home, ".gemini/settings.json", '{ "ui": ');
  expect(() => settingsFor(home)).toThrow(/gemini's settings .*settings\.json cannot be read/);
  put(home, ".gemini/settings.json", '{\n  // "sk-x",\n  "key": "sk-x",\n}\n');
  expect(() => settingsFor(home)).toThrow(/cannot be read: line 4, property name expected\.$/);
  put(home, ".gemini/settings.json", '{ "a": 1 }\n/* "sk-x"');
  expect(() => settingsFor(home)).toThrow(/cannot be read: line 2, unexpected end of comment\.$/);
});

test("another worker that is started from inside of one is not in its overlay", () => {
  const inside = { HOME: "/home/u", GEMINI_CLI_HOME: "/runs/1", GEMINI_CLI_PERDURE_HOME: "/runs/1:/srv/gemini" };
  expect(withoutPrivateEnv(inside)).toMatchObject({ GEMINI_CLI_HOME: "/srv/gemini", GEMINI_CLI_PERDURE_HOME: null });
  expect(withoutPrivateEnv({ HOME: "/home/u", GEMINI_CLI_HOME: "/srv/gemini" })).not.toHaveProperty("GEMINI_CLI_HOME");
});

test("a hook tells whose home the conversation is in: through the overlay of the run it is the user's, in a copy of it another one", () => {
  const dir = folder();
  const home = join(dir, "home");
  const run = join(dir, "run");
  const copied = join(dir, "copied");
  const dereferenced = join(dir, "dereferenced");
  const file = put(dir, join("home", LATER), transcript("gemini", "good"));
  mkdirSync(join(run, ".gemini"), { recursive: true });
  symlinkSync(join(home, ".gemini", "tmp"), join(run, ".gemini", "tmp"));
  cpSync(run, copied, { recursive: true });
  cpSync(home, dereferenced, { recursive: true }); // as `cp -rL` of the overlay does
  const placeShownIn = (top: string): string | undefined => {
    const event = { session_id: session, hook_event_name: "SessionStart", source: "resume" };
    return gemini.liveness.onHook?.({ ...event, transcript_path: join(top, LATER) })?.place;
  };
  expect([run, copied, home].map(placeShownIn)).toEqual([home, home, home]);
  expect(placeShownIn(dereferenced)).toBe(dereferenced);
  expect(placeShownIn(join(dir, "gone"))).toBeUndefined();
  expect(gemini.storage.placeOf?.(file)).toBe(home);
});
