import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

// The arrows between the folders of src, and what may stand where. The rule is the table; the checker is below.

const ANYTHING_OF_THE_DAEMON = [
  "core",
  "daemon",
  "launch",
  "limits",
  "project",
  "protocol",
  "runtime",
  "state",
  "store",
  "util",
  "vendors",
];
const WHAT_A_CLIENT_MAY = ["client", "launch", "limits", "project", "protocol", "runtime", "state", "util", "vendors"];

/** A room (a folder, or a file of the top) and the rooms it may import from, besides itself. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  util: [],
  limits: [],
  protocol: ["limits", "util"],
  core: ["protocol", "limits", "util"],
  store: ["core", "protocol", "limits", "util"],
  state: ["protocol", "limits", "util"],
  project: ["protocol", "state", "limits", "util"],
  vendors: ["protocol", "state", "limits", "util"],
  runtime: ["protocol", "state", "limits", "util"],
  launch: ["protocol", "runtime", "state", "vendors", "limits", "util"],
  client: ["protocol", "state", "limits", "util"],
  commands: WHAT_A_CLIENT_MAY,
  library: WHAT_A_CLIENT_MAY,
  cli: ["commands", "protocol", "util"],
  index: ["library", "protocol"],
  daemon: ANYTHING_OF_THE_DAEMON,
  scripted: ["protocol", "state", "limits", "util"],
};

/** Rooms that stay pure: which modules of Node and of npm a file there may use. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  "protocol/calls/index.ts": ["zod", "zod/mini"],
  "protocol/calls/fleet.ts": ["zod/mini"],
  "protocol/calls/mail.ts": ["zod/mini"],
  "protocol/calls/shapes.ts": ["zod/mini"],
  "protocol/foreign-id.ts": ["node:crypto"],
  "util/sha256.ts": ["node:crypto"],
};
const PURE = new Set(["limits", "protocol", "core", "util"]);

const SQL = /\b(SELECT\s[\w*(]|INSERT INTO\s|UPDATE\s+\w+\s+SET\s|DELETE FROM\s)/;
const VENDOR =
  /[!=]==?\s*["'](claude|codex|gemini|copilot|cursor|pi|opencode|qwen)["']|case\s+["'](claude|codex|gemini|copilot|cursor|pi|opencode|qwen)["']/;
const LINES_MAX = 400;

/** A constant whose name ends in a unit is a bound, and bounds stand in limits/ with their reasons; but for these. */
const BOUND =
  /\b(?:const|static readonly) #?((?:[A-Z0-9_]*_)?(?:MS|MAX|MIN|BYTES|CHARS|LINES|ROWS|TRIES|DAYS|KEPT|DEPTH|LEVELS|DEFAULT)|[A-Z0-9_]+_LOOKS)(?:: [^=;]+)? =/g;
const BOUNDS_ELSEWHERE: Readonly<Record<string, string>> = {
  HEADER_BYTES: "protocol/frames.ts", // the form of a frame
  ID_CHARS: "daemon/mail/admit.ts", // the form of a message's id
  UNITS_MS: "commands/shared/parse.ts", // what the letters of a duration mean
};

test("every file of src keeps to the arrows, and to what may stand where", () => {
  const files = globSync("**/*.ts", { cwd: "src" });
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((file) => offences(file, readFileSync(join("src", file), "utf8")))).toEqual([]);
});

const OFFENDERS: [what: string, file: string, text: string, offence: RegExp][] = [
  [
    "a verb that reaches into the store",
    "commands/ls.ts",
    'import { x } from "../store/db.ts";',
    /commands must not import store/,
  ],
  [
    "a client that reaches into the daemon",
    "client/x.ts",
    'const y = await import("../daemon/house.ts");',
    /client must not import daemon/,
  ],
  [
    "a type that is borrowed the wrong way",
    "core/x.ts",
    'import type { Db } from "../store/db.ts";',
    /core must not import store/,
  ],
  [
    "a re-export the wrong way",
    "protocol/x.ts",
    'export { y } from "../core/lease.ts";',
    /protocol must not import core/,
  ],
  [
    "an import over several lines",
    "store/x.ts",
    'import {\n  a,\n  b,\n} from "../client/connect.ts";',
    /store must not import client/,
  ],
  ["I/O in the core", "core/x.ts", 'import { readFileSync } from "node:fs";', /core\/x\.ts must not use node:fs/],
  ["I/O in the core by the back door", "core/x.ts", 'process.getBuiltinModule("node:fs");', /must not use node:fs/],
  [
    "the validator where the command line loads it",
    "protocol/names.ts",
    'import { z } from "zod";',
    /must not use zod/,
  ],
  ["a room nobody drew", "god/x.ts", "", /god is no room/],
  ["SQL outside the store", "daemon/x.ts", 'db.run("UPDATE workers SET a = 1");', /SQL/],
  ["a vendor's name in a condition", "daemon/x.ts", 'if (vendor === "claude") go();', /vendor/],
  ["a vendor's name in a switch", "runtime/x.ts", "switch (v) { case 'codex': }", /vendor/],
  ["a bound in a room", "daemon/x.ts", "const POLL_MS = 20;", /POLL_MS is a bound/],
  ["a bound of a class", "daemon/x.ts", "  static readonly LOOKS_MAX: number = 3;", /LOOKS_MAX is a bound/],
  ["a bound that is allowed elsewhere", "daemon/x.ts", "const HEADER_BYTES = 4;", /HEADER_BYTES is a bound/],
  ["a file that does not end", "daemon/x.ts", "\n".repeat(LINES_MAX + 1), /lines/],
];

test.each(OFFENDERS)("the checker finds %s", (_what, file, text, offence) => {
  expect(offences(file, text).join("\n")).toMatch(offence);
});

test("the checker leaves alone what is allowed", () => {
  expect(offences("daemon/calls/x.ts", 'import { a } from "../../store/db.ts";\nimport b from "node:fs";')).toEqual([]);
  expect(offences("store/x.ts", 'import { a } from "./db.ts";\ndb.run("DELETE FROM events");')).toEqual([]);
  expect(offences("limits/x.ts", "export const POLL_MS = 20;")).toEqual([]);
  expect(offences("protocol/frames.ts", "const HEADER_BYTES = 4;")).toEqual([]);
  expect(offences("vendors/claude.ts", 'if (vendor === "claude") go();')).toEqual([]);
});

function offences(file: string, text: string): string[] {
  const room = roomOf(file);
  const found: string[] = [];
  if (ARROWS[room] === undefined) found.push(`${file}: ${room} is no room of the house`);
  for (const specifier of importsOf(text)) found.push(...importOffences(file, room, specifier));
  if (room !== "store" && SQL.test(text)) found.push(`${file}: SQL belongs in store/`);
  if (room !== "vendors" && VENDOR.test(text)) found.push(`${file}: a vendor is compared by name outside vendors/`);
  for (const [, name = ""] of room === "limits" ? [] : text.matchAll(BOUND)) {
    if (BOUNDS_ELSEWHERE[name] !== file) found.push(`${file}: ${name} is a bound, and belongs in limits/`);
  }
  const lines = text.split("\n").length - 1;
  if (lines > LINES_MAX) found.push(`${file}: ${lines} lines`);
  return found;
}

function importOffences(file: string, room: string, specifier: string): string[] {
  if (specifier.startsWith(".")) {
    const target = roomOf(normalize(join(dirname(file), specifier)));
    return target === room || ARROWS[room]?.includes(target) ? [] : [`${file}: ${room} must not import ${target}`];
  }
  if (!PURE.has(room) || MODULES[file]?.includes(specifier)) return [];
  return [`${file} must not use ${specifier}`];
}

/** Static, dynamic and re-exported, types too: an arrow is an arrow. */
function importsOf(text: string): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|getBuiltinModule\(\s*)["']([^"'\n]+)["']/g;
  return [...text.matchAll(pattern)].map(([, specifier = ""]) => specifier);
}

function roomOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");
}
