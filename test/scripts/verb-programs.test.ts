import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildVerbPrograms } from "../../scripts/verb-programs.js";
import { VERBS } from "../../src/commands/verbs.ts";

/** Verbs that start programs, or look at those that are installed, need what is known of vendors. */
const NEED_VENDORS = new Set(["adopt", "demo", "doctor", "trust", "up"]);
/** Rooms of the programs that only ask the daemon something and print its answer. */
const LIGHT_ROOMS = ["client", "commands", "limits", "project", "protocol", "state", "util"];
/** Verbs that may load more rooms, each with the reason. */
const MORE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  // Who calls is found by the agent process above the caller.
  ...Object.fromEntries(
    ["ask", "cancel", "inbox", "mail", "mcp", "pending", "reply", "send", "turn", "whoami"].map((verb) => [
      verb,
      ["launch", "runtime", "vendors"],
    ]),
  ),
  // The service file names the program, and tmux is attached to directly.
  attach: ["runtime"],
  daemon: ["runtime"],
  init: ["runtime", "vendors"],
  // A program is found and started; what knows the vendors is loaded for a vendor that is named, or a conversation that is begun.
  "pi-session": ["launch", "runtime", "vendors"],
  restart: ["launch", "runtime", "vendors"],
  run: ["launch", "runtime", "vendors"],
};
/** A light verb is read in one piece of at most this size; the largest, `ask`, is some 56 kB. Those that start a program have its wrapper, too. */
const LIGHT_BYTES_MAX = 57_000;
const STARTING_BYTES_MAX = 75_000;
const STARTS = new Set(["pi-session", "restart", "run"]);

interface Output {
  bytes: number;
  inputs: Record<string, unknown>;
  imports: { path: string; kind: string }[];
}

const outdir = mkdtempSync(join(tmpdir(), "perdure-verbs-"));
let outputs: Map<string, Output>;

beforeAll(async () => {
  const { metafiles } = await buildVerbPrograms({
    outdir,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    format: "cjs",
    minify: true,
    write: false,
    supported: { "dynamic-import": false },
    external: ["smol-toml", "string-width", "jsonc-parser", "./check.ts", "./positions.ts"],
    define: { PERDURE_VERSION: '"0"', PERDURE_DIST: '""' },
    logLevel: "error",
  });
  const all = metafiles.flatMap(({ outputs: made }) => Object.entries<Output>(made));
  outputs = new Map(all.map(([file, output]) => [file.replace(/^.*\/|\.cjs$/g, ""), output]));
});

afterAll(() => rmSync(outdir, { recursive: true, force: true }));

function programOf(verb: string): Output {
  const output = outputs.get(verb === "" ? "bare" : `verb-${verb}`);
  if (!output) throw new Error(`there is no program of ${verb}`);
  return output;
}

test("every verb is a program", () => {
  const programs = [...outputs.keys()].filter((name) => name === "bare" || name.startsWith("verb-"));
  expect(programs.toSorted()).toEqual(
    Object.keys(VERBS)
      .map((verb) => (verb === "" ? "bare" : `verb-${verb}`))
      .toSorted(),
  );
});

const LIGHT = Object.keys(VERBS).filter((verb) => !NEED_VENDORS.has(verb));

test.each(LIGHT)("%s loads no room that it does not use", (verb) => {
  const rooms = new Set(Object.keys(programOf(verb).inputs).map((file) => file.split("/")[1]));
  const allowed = new Set([...LIGHT_ROOMS, ...(MORE_ROOMS[verb] ?? [])]);
  expect([...rooms].filter((room) => room !== undefined && !allowed.has(room))).toEqual([]);
});

test.each(LIGHT)("%s is small, and no package is part of it", (verb) => {
  const { bytes, inputs } = programOf(verb);
  expect(Object.keys(inputs).filter((file) => file.includes("node_modules"))).toEqual([]);
  expect(bytes).toBeLessThan(STARTS.has(verb) ? STARTING_BYTES_MAX : LIGHT_BYTES_MAX);
});

/** Each takes 2 to 5 ms to load, as much as the rest of a light verb. */
const SLOW_BUILTINS = new Set([
  "node:child_process",
  "node:crypto",
  "node:http",
  "node:net",
  "node:readline",
  "node:sqlite",
  "node:stream",
  "node:tty",
]);
/** The first two run another program each time; `ask`, `turn` and `mcp` make an id under which they can ask again. */
const USE_SLOW_BUILTINS = new Set(["attach", "daemon", "ask", "turn", "mcp"]);

test.each(LIGHT.filter((verb) => !USE_SLOW_BUILTINS.has(verb)))(
  "%s loads no slow part of Node at its start",
  (verb) => {
    const required = programOf(verb).imports.map(({ path }) => path);
    expect(required.filter((path) => SLOW_BUILTINS.has(path))).toEqual([]);
  },
);

test.each([...STARTS])("%s does not load what knows the vendors before it has to", (verb) => {
  const adapters = Object.keys(programOf(verb).inputs).filter((file) => /^src\/vendors\/\w+\/index\.ts$/.test(file));
  expect(adapters).toEqual([]);
});
