import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { VERBS } from "../src/commands/verbs.ts";

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
  client: ["launch", "project", "protocol", "runtime", "state", "vendors", "limits", "util"],
  commands: WHAT_A_CLIENT_MAY,
  library: WHAT_A_CLIENT_MAY,
  cli: ["commands", "protocol", "util"],
  index: ["library", "protocol"],
  daemon: ANYTHING_OF_THE_DAEMON,
  scripted: ["protocol", "state", "limits", "util"],
};

const BELOW_A_NAME = [
  "base-services",
  "events",
  "worker-activity",
  "permissions",
  "runs",
  "conversations",
  "custody",
  "launch",
];
const FEATURES = [
  ...BELOW_A_NAME,
  "names",
  "fleet",
  "saved",
  "status",
  "export",
  "mail",
  "delivery",
  "turns",
  "notify",
];

const SUBJECTS_OF_CALLS = ["lease", "names", "fleet", "conversations", "mail", "admin"];

/**
 * The arrows inside the big rooms: a folder of the room, or a file that lies in it beside the folders, and the others that it may
 * import from. Handlers of calls stand above every feature and below the server; no feature imports them. A room inside a room may be
 * big, too.
 */
const ROOMS_WITHIN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  daemon: {
    environments: [],
    "base-services": ["environments"],
    events: ["base-services"],
    "worker-activity": [],
    permissions: ["base-services"],
    runs: ["base-services", "events"],
    conversations: ["base-services", "events", "worker-activity", "runs"],
    custody: ["base-services", "events", "runs", "conversations"],
    launch: ["base-services", "events", "permissions", "runs", "conversations", "custody"],
    names: BELOW_A_NAME,
    fleet: [...BELOW_A_NAME, "names"],
    status: [...BELOW_A_NAME, "names", "fleet", "mail", "delivery", "turns"],
    saved: [...BELOW_A_NAME, "names", "fleet", "status"],
    export: [...BELOW_A_NAME, "names", "fleet", "status", "saved"],
    mail: ["base-services", "events", "worker-activity", "permissions", "names"],
    delivery: ["base-services", "events", "worker-activity", "runs", "conversations", "mail"],
    turns: [...BELOW_A_NAME, "names", "mail", "delivery"],
    notify: [...BELOW_A_NAME, "names", "fleet", "status", "mail", "delivery", "turns"],
    services: FEATURES,
    calls: [...FEATURES, "services"],
    dispatch: ["base-services", "permissions", "services", "calls"],
    mcp: ["base-services", "permissions", "services", "dispatch"],
    server: ["base-services", "permissions", "services", "dispatch", "mcp"],
    "run-lifecycle": [...FEATURES, "services"],
    retention: [...FEATURES, "services", "server"],
    assemble: [...FEATURES, "environments", "services", "run-lifecycle"],
    "own-files": [...FEATURES, "services", "server"],
    app: [...FEATURES, "environments", "services", "server", "assemble", "retention", "own-files"],
  },
  commands: {
    shared: [],
    run: ["shared"],
    fleet: ["shared", "run"],
    mail: ["shared"],
    names: ["shared"],
    conversations: ["shared"],
    context: ["shared"],
    admin: ["shared"],
    demo: ["shared"],
    verbs: ["shared", "run", "fleet", "mail", "names", "conversations", "context", "admin", "demo"],
  },
  protocol: {
    hint: [],
    errors: ["hint"],
    "run-id": [],
    "foreign-id": [],
    version: [],
    tools: [],
    names: ["errors", "run-id"],
    frames: ["errors"],
    records: ["hint", "errors", "names", "run-id"],
    calls: ["records", "names", "run-id", "errors"],
  },
  project: {
    owners: [],
    find: ["owners"],
    "path-inside": [],
    "ask-git": [],
    fingerprint: ["ask-git"],
    slug: [],
    config: ["find"],
    worktree: ["find", "path-inside", "ask-git"],
    fleet: ["find", "path-inside", "config", "worktree"],
    whoami: ["find", "config"],
    "context-file": ["find", "config"],
    "configured-folder": ["config", "context-folder"],
    "context-folder": [],
    "context-entry": ["context-folder"],
  },
  runtime: {
    "find-program": [],
    process: [],
    wrapper: ["process"],
    tmux: ["find-program", "process"],
  },
  // The stages of following a conversation: what is there, whose it is, what the agent shows, what that proves and means, and who follows.
  "daemon/conversations": {
    services: [],
    probe: [],
    binding: [],
    proof: ["services", "probe", "binding"],
    signs: ["services", "probe", "binding"],
    attention: ["services", "probe", "proof", "signs"],
    follow: ["services", "probe", "binding", "proof", "signs", "attention"],
  },
  // The subjects are those of protocol/calls.
  "daemon/calls": {
    context: [],
    commits: ["context"],
    ...Object.fromEntries(SUBJECTS_OF_CALLS.map((subject) => [subject, ["context", "commits"]])),
    index: ["context", ...SUBJECTS_OF_CALLS],
  },
  // What every verb uses lies beside the folders.
  "commands/shared": {
    call: [],
    here: [],
    output: [],
    command: ["output"],
    arguments: ["here"],
    table: ["output"],
    terminal: ["output", "table"],
    launch: ["call", "here", "output"],
    conversations: ["call", "here", "output", "table", "terminal", "launch"],
    warnings: ["call", "here", "output", "command", "table"],
    verb: ["here", "output", "command", "warnings"],
  },
};
/** A vendor is a folder that can be deleted: only the tables beside the folders name it, and it names no other vendor. */
const VENDOR_MAY = ["shared", "adapter", "launch-plan", "delivery", "turn"];

/** The table of calls is built from schemas: a client takes types from it, and its one file without schemas. */
const VALIDATOR_LOADED = /^(?:import|export) (?!type\b)[^;]*\/protocol\/calls\/(?!wire-names\.ts)/m;
const MAY_LOAD_VALIDATOR = new Set(["protocol", "daemon"]);

/** Rooms that stay pure: which modules of Node and of npm a file there may use. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["admin", "conversations", "entry", "fleet", "index", "lease", "mail", "names", "shapes"].map((subject) => [
      `protocol/calls/${subject}.ts`,
      ["zod/mini"],
    ]),
  ),
  "protocol/foreign-id.ts": ["node:crypto"],
  "util/sha256.ts": ["node:crypto"],
};
const PURE = new Set(["limits", "protocol", "core", "util"]);

/** Rooms that read other people's files, or run folders, where an agent can put anything: a plain read may wait, or never end. */
const READS_FOREIGN = new Set(["project", "vendors", "launch", "daemon", "commands"]);
const PLAIN_READ = /\b(?:readIfThere|readFile(?:Sync)?|openSync|createReadStream)\(|\bawait open\([^)]*"r"/;
/** Files that read only what nobody else writes to: the state folder itself, /proc, the terminal; or that say how they open. */
const READS_OWN = new Set([
  "project/context-entry.ts",
  "commands/shared/launch/ensure-trust.ts",
  "commands/shared/verb/programs.ts",
  "daemon/conversations/proof/verdict.ts",
  "daemon/mail/attachments.ts",
  // The source of pi's extension, which has pi's own modules only.
  "vendors/pi/extension-mail.ts",
  "vendors/pi/extension-person.ts",
  // Before the program of the run begins, so that nobody else has written there.
  "daemon/turns/start-turn.ts",
  "daemon/server/daemon-file.ts",
  "daemon/server/high-water.ts",
  "daemon/server/lock.ts",
  "daemon/server/log.ts",
]);

const SQL = /\b(SELECT\s[\w*(]|INSERT INTO\s|UPDATE\s+\w+\s+SET\s|DELETE FROM\s)/;
/** Each vendor is a folder of src/vendors. */
const VENDORS = readdirSync("src/vendors", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "shared")
  .map(({ name }) => name);
/** The vendors' names except "custom", which is also an ordinary word. */
const COMPARED = VENDORS.filter((vendor) => vendor !== "custom");
const VENDOR = new RegExp(`(?:[!=]==?|\\bcase)\\s*["'](?:${COMPARED.join("|")})["']`);
const LINES_MAX = 400;

/** A command line that a string tells somebody to type. Only those who show hints write them; others make `{verb, args}`. */
const COMMAND_LINE = new RegExp(
  `\\bperdure (?:(?:${Object.keys(VERBS).filter(Boolean).join("|")})(?![\\w-])|\\$\\{(?!\\w*version))`,
  "i",
);
const WRITES_COMMAND_LINES = new Set(["commands", "cli"]);
/** Texts for a model, which types commands. */
const TOLD_TO_MODELS = new Set(["core/envelope.ts", "core/introduction.ts"]);

/** A constant whose name ends in a unit is a bound, and bounds stand in limits/ with their reasons; but for these. */
const BOUND =
  /\b(?:const|static readonly) #?((?:[A-Z0-9_]*_)?(?:MS|MAX|MIN|BYTES|CHARS|LINES|ROWS|TRIES|DAYS|KEPT|DEPTH|LEVELS|DEFAULT)|[A-Z0-9_]*POLLS_[A-Z0-9_]+)(?:: [^=;]+)? =/g;
const BOUNDS_ELSEWHERE: Readonly<Record<string, string>> = {
  HEADER_BYTES: "protocol/frames.ts", // the form of a frame
  ID_CHARS: "daemon/mail/message-ids.ts", // the form of a message's id
  UNITS_MS: "util/duration.ts", // what the letters of a duration mean
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
    'const y = await import("../daemon/services.ts");',
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
  [
    "a require the wrong way",
    "store/x.ts",
    'const a = require("../client/connect.ts");',
    /store must not import client/,
  ],
  [
    "a require by way of a maker of requires",
    "store/x.ts",
    'createRequire(import.meta.filename)("../client/connect.ts")',
    /store must not import client/,
  ],
  [
    "a shared helper that knows a vendor",
    "vendors/shared/x.ts",
    'import { claude } from "../claude/index.ts";',
    /vendors\/shared must not import vendors\/claude/,
  ],
  ["a plain read of a project's file", "project/x.ts", "const text = readIfThere(file);", /is read by state/],
  ["a plain open of a vendor's file", "vendors/x.ts", 'const handle = await open(file, "r");', /is read by state/],
  ["I/O in the core", "core/x.ts", 'import { readFileSync } from "node:fs";', /core\/x\.ts must not use node:fs/],
  ["I/O in the core by the back door", "core/x.ts", 'process.getBuiltinModule("node:fs");', /must not use node:fs/],
  [
    "the validator where the command line loads it",
    "protocol/calls/wire-names.ts",
    'import * as z from "zod/mini";',
    /must not use zod/,
  ],
  [
    "a verb that loads the validator",
    "commands/names/ls.ts",
    'import { calls,\n  type CallName } from "../../protocol/calls/index.ts";',
    /loads the validator/,
  ],
  ["a room nobody drew", "god/x.ts", "", /god is no room/],
  ["a room nobody drew inside another", "daemon/god/x.ts", "", /daemon\/god is no room/],
  [
    "a feature that calls a handler",
    "daemon/fleet/x.ts",
    'import { upCall } from "../calls/up.ts";',
    /daemon\/fleet must not import daemon\/calls/,
  ],
  [
    "a handler that calls another handler",
    "daemon/calls/fleet/restart.ts",
    'import { downCall } from "./down.ts";',
    /a handler must not import the handler/,
  ],
  ["a room nobody drew in a room of a room", "daemon/calls/god/x.ts", "", /daemon\/calls\/god is no room/],
  [
    "a stage that knows a later one",
    "daemon/conversations/signs/x.ts",
    'import type { Follower } from "../follow/follower.ts";',
    /daemon\/conversations\/signs must not import daemon\/conversations\/follow/,
  ],
  [
    "a feature that takes all services",
    "daemon/mail/x.ts",
    'import type { Services } from "../services.ts";',
    /daemon\/mail must not import daemon\/services/,
  ],
  [
    "a lower feature that knows a higher one",
    "daemon/conversations/proof/x.ts",
    'import type { Custody } from "../../custody/custody.ts";',
    /daemon\/conversations must not import daemon\/custody/,
  ],
  [
    "a verb that borrows from another group",
    "commands/mail/x.ts",
    'import { up } from "../fleet/up.ts";',
    /commands\/mail must not import commands\/fleet/,
  ],
  [
    "a vendor that knows another",
    "vendors/qwen/x.ts",
    'import { gemini } from "../gemini/index.ts";',
    /vendors\/qwen must not import vendors\/gemini/,
  ],
  ["SQL outside the store", "daemon/x.ts", 'db.run("UPDATE workers SET a = 1");', /SQL/],
  ["a vendor's name in a condition", "daemon/x.ts", 'if (vendor === "claude") go();', /vendor/],
  ["a vendor's name in a switch", "runtime/x.ts", "switch (v) { case 'codex': }", /vendor/],
  ["a bound in a room", "daemon/x.ts", "const POLL_MS = 20;", /POLL_MS is a bound/],
  ["a bound of a class", "daemon/x.ts", "  static readonly POLLS_MAX: number = 3;", /POLLS_MAX is a bound/],
  ["a bound that is allowed elsewhere", "daemon/x.ts", "const HEADER_BYTES = 4;", /HEADER_BYTES is a bound/],
  ["a command line in a hint of the daemon", "daemon/x.ts", 'const hint = "perdure ls";', /writes a command line/],
  [
    "a command line with a value",
    "core/x.ts",
    "const hint = `then: perdure takeover ${name}`;",
    /writes a command line/,
  ],
  ["a command line with a choice", "store/x.ts", "const hint = `perdure ${verb} now`;", /writes a command line/],
  ["a file that does not end", "daemon/x.ts", "\n".repeat(LINES_MAX + 1), /lines/],
];

test.each(OFFENDERS)("the checker finds %s", (_what, file, text, offence) => {
  expect(offences(file, text).join("\n")).toMatch(offence);
});

test("the checker leaves alone what is allowed", () => {
  expect(
    offences("daemon/calls/mail/x.ts", 'import { a } from "../../../store/db.ts";\nimport b from "node:fs";'),
  ).toEqual([]);
  expect(offences("store/x.ts", 'import { a } from "./db.ts";\ndb.run("DELETE FROM events");')).toEqual([]);
  expect(offences("daemon/calls/mail/x.ts", 'import { a } from "../../mail/admit.ts";')).toEqual([]);
  expect(offences("daemon/calls/mail/x.ts", 'import { a } from "../commits.ts";')).toEqual([]);
  expect(offences("vendors/claude/x.ts", 'import { a } from "../shared/arguments.ts";')).toEqual([]);
  expect(offences("library/x.ts", 'import type { A } from "../protocol/calls/index.ts";')).toEqual([]);
  expect(offences("client/x.ts", 'import { a } from "../protocol/calls/wire-names.ts";')).toEqual([]);
  expect(
    offences("daemon/x.ts", 'hint: verb("ls"), // as perdure ls shows\nconst text = "perdure has no copy";'),
  ).toEqual(["daemon/x.ts: daemon/x is no room"]);
  expect(offences("limits/x.ts", "export const POLL_MS = 20;")).toEqual([]);
  expect(offences("protocol/frames.ts", "const HEADER_BYTES = 4;")).toEqual([]);
  expect(offences("vendors/claude/index.ts", 'if (vendor === "claude") go();')).toEqual([]);
});

function offences(file: string, text: string): string[] {
  const room = roomOf(file);
  const found: string[] = [];
  if (ARROWS[room] === undefined) found.push(`${file}: ${room} is no room`);
  for (const specifier of importsOf(text)) found.push(...importOffences(file, room, specifier));
  for (const [big, rooms] of bigRoomsOf(file)) {
    const within = roomWithin(file, big);
    if (within && !rooms[within]) found.push(`${file}: ${big}/${within} is no room`);
  }
  if (!MAY_LOAD_VALIDATOR.has(room) && VALIDATOR_LOADED.test(text)) found.push(`${file}: it loads the validator`);
  if (room !== "store" && SQL.test(text)) found.push(`${file}: SQL belongs in store/`);
  if (room !== "vendors" && VENDOR.test(text)) found.push(`${file}: a vendor is compared by name outside vendors/`);
  if (READS_FOREIGN.has(room) && !READS_OWN.has(file) && PLAIN_READ.test(text)) {
    found.push(`${file}: a file that is not ours is read by state/bounded-read.ts or state/open-regular.ts`);
  }
  for (const [, name = ""] of room === "limits" ? [] : text.matchAll(BOUND)) {
    if (BOUNDS_ELSEWHERE[name] !== file) found.push(`${file}: ${name} is a bound, and belongs in limits/`);
  }
  if (!WRITES_COMMAND_LINES.has(room) && !TOLD_TO_MODELS.has(file) && COMMAND_LINE.test(withoutComments(text))) {
    found.push(`${file}: it writes a command line; protocol/hint.ts makes commands that whoever shows them can write`);
  }
  const lines = text.split("\n").length - 1;
  if (lines > LINES_MAX) found.push(`${file}: ${lines} lines`);
  return found;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
}

function importOffences(file: string, room: string, specifier: string): string[] {
  if (specifier.startsWith(".")) {
    const path = normalize(join(dirname(file), specifier));
    const target = roomOf(path);
    if (target === room) return offencesWithin(file, room, path);
    return ARROWS[room]?.includes(target) ? [] : [`${file}: ${room} must not import ${target}`];
  }
  if (!PURE.has(room) || MODULES[file]?.includes(specifier)) return [];
  return [`${file} must not use ${specifier}`];
}

/** Files of daemon/calls that are no handlers; the table of all handlers imports every one of them. */
const BESIDE_HANDLERS = new Set(["daemon/calls/context.ts", "daemon/calls/commits.ts"]);

function offencesWithin(file: string, room: string, path: string): string[] {
  const isHandler = (each: string): boolean => each.startsWith("daemon/calls/") && !BESIDE_HANDLERS.has(each);
  if (file !== "daemon/calls/index.ts" && isHandler(file) && isHandler(path)) {
    return [`${file}: a handler must not import the handler ${path}`];
  }
  const ofVendor = room === "vendors" && [...VENDORS, "shared"].includes(roomWithin(file, room));
  if (ofVendor) return arrowOffences(file, path, room, VENDOR_MAY);
  return bigRoomsOf(file)
    .filter(([big]) => path.startsWith(`${big}/`))
    .flatMap(([big, rooms]) => arrowOffences(file, path, big, rooms[roomWithin(file, big)]));
}

function arrowOffences(file: string, path: string, big: string, allowed: readonly string[] | undefined): string[] {
  const [from, to] = [roomWithin(file, big), roomWithin(path, big)];
  if (from === to || allowed === undefined || allowed.includes(to)) return [];
  return [`${file}: ${big}/${from} must not import ${big}/${to}`];
}

/** Static, dynamic and re-exported, types too: an arrow is an arrow. */
function importsOf(text: string): string[] {
  const pattern =
    /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|getBuiltinModule\(\s*|\brequire\(\s*|createRequire\([^)]*\)\(\s*)["']([^"'\n]+)["']/g;
  return [...text.matchAll(pattern)].map(([, specifier = ""]) => specifier);
}

function roomOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");
}

/** The big rooms that the file is in, the outer one first, with the arrows between the rooms inside. */
function bigRoomsOf(file: string): [big: string, rooms: Readonly<Record<string, readonly string[]>>][] {
  return Object.entries(ROOMS_WITHIN).filter(([big]) => file.startsWith(`${big}/`));
}

/** The folder inside the big room, or the name of a file that lies beside the folders; empty for a room that is one file. */
function roomWithin(file: string, big: string): string {
  return (file.slice(big.length + 1).split("/")[0] ?? "").replace(/\.ts$/, "");
}

/** Folders of test/ that follow no folder of src, because they concern all of it. CONTRIBUTING.md says what each is for. */
const TESTS_APART = new Set([
  "bench",
  "campaigns",
  "docs",
  "scripts",
  "seeds",
  "support",
  "terminal",
  "upgrade",
  "vendors-live",
]);

test("every folder with tests is a folder of src, or one of those apart", () => {
  const folders = new Set(globSync("**/*.test.ts", { cwd: "test" }).map((file) => dirname(file)));
  const strays = [...folders].filter((folder) => {
    return !TESTS_APART.has(folder.split("/")[0] ?? "") && globSync(join("src", folder)).length === 0;
  });
  expect(strays).toEqual([]);
});

test("no file of src imports itself by way of others, types and late loads included", () => {
  const files = globSync("**/*.ts", { cwd: "src" });
  const graph = new Map(files.map((file) => [file, targetsOf(file, readFileSync(join("src", file), "utf8"))]));
  expect(ringsIn(graph)).toEqual([]);
});

test.each([
  ["two files", { "a.ts": 'import "./b.ts";', "b.ts": 'import type { A } from "./a.ts";' }, [["a.ts", "b.ts"]]],
  ["a late load", { "a.ts": 'const b = await import("./b.ts");', "b.ts": 'require("./a.ts");' }, [["a.ts", "b.ts"]]],
  [
    "a ring of three",
    {
      "a.ts": 'import "./b.ts";',
      "b.ts": 'import "./c.ts";',
      "c.ts": 'export { a } from "./a.ts";',
      "d.ts": 'import "./a.ts";',
    },
    [["a.ts", "b.ts", "c.ts"]],
  ],
  ["no ring", { "a.ts": 'import "./b.ts";', "b.ts": "" }, []],
])("the search for rings finds %s", (_what, texts, rings) => {
  const graph = new Map(Object.entries(texts).map(([file, text]) => [file, targetsOf(file, text)]));
  expect(ringsIn(graph)).toEqual(rings);
});

function targetsOf(file: string, text: string): string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => normalize(join(dirname(file), specifier)));
}

/** Every largest set of files that all reach each other. */
function ringsIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reach = new Map([...graph.keys()].map((file) => [file, reachedFrom(file, graph)]));
  const reaches = (from: string, to: string): boolean => reach.get(from)?.has(to) === true;
  const inRing = [...graph.keys()].filter((file) => reaches(file, file)).toSorted();
  const rings = inRing.map((file) => inRing.filter((other) => reaches(file, other) && reaches(other, file)));
  return rings.filter((ring, at) => ring[0] === inRing[at]);
}

function reachedFrom(file: string, graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const queue = [...(graph.get(file) ?? [])];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    queue.push(...(graph.get(next) ?? []));
  }
  return reached;
}

/** A folder with more files than that is a warehouse: nobody finds a thing in it by its name. */
const FILES_MAX = 28;

test("no folder of src is crowded", () => {
  const counts = Map.groupBy(globSync("**/*.ts", { cwd: "src" }), (file) => dirname(file));
  const crowded = [...counts].filter(([, files]) => files.length > FILES_MAX);
  expect(crowded.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([]);
});

const SLIVER_LINES = 25;
/** Why a file may be short though only one other imports it. */
const SHORT_FOR_A_REASON: readonly [file: RegExp, reason: string][] = [
  [/^commands\/\w+\/[\w-]+\.ts$/, "one verb, or one group of verbs, per file"],
  [/^commands\/shared\/verb\/(?:declared-hint|tell-starter)\.ts$/, "only a verb that fails loads it"],
  [
    /^commands\/shared\/verb\/programs\.ts$/,
    "what the build has written; the top of the command line may not read files",
  ],
  [/^daemon\/calls\/\w+\/[\w-]+\.ts$/, "one handler per file"],
  [/^limits\/\w+\.ts$/, "the bounds of one room"],
  [/^store\/migrations\/[\w-]+\.ts$/, "one migration per file, never edited"],
  [/^store\/epochs\.ts$/, "its SQL belongs in store/"],
  [/^core\/epoch\.ts$/, "a decision without I/O, tested alone"],
  [/^vendors\/\w+\/delivery\.ts$/, "how mail reaches a vendor's model is one file of its folder"],
  [/^vendors\/\w+\/relocation\.ts$/, "pure functions, tested alone"],
  [/^vendors\/\w+\/mcp\.ts$/, "how a vendor's program gets the tools is one file of its folder"],
  [/^daemon\/mcp\/tools\/index\.ts$/, "the list of the tools, one file each"],
  [/^daemon\/launch\/first-prompt\.ts$/, "the rule is looked for by its name"],
  [/^scripted\/mail-habits\.ts$/, "for tests alone"],
];

test("a short file that one other imports has a reason", () => {
  const files = globSync("**/*.ts", { cwd: "src" });
  const texts = new Map(files.map((file) => [file, readFileSync(join("src", file), "utf8")]));
  const imported = [...texts].flatMap(([file, text]) => [...new Set(targetsOf(file, text))]);
  const slivers = files.filter((file) => {
    const isShort = (texts.get(file)?.split("\n").length ?? 0) - 1 < SLIVER_LINES;
    return isShort && imported.filter((target) => target === file).length <= 1;
  });
  expect(slivers.filter((file) => !SHORT_FOR_A_REASON.some(([pattern]) => pattern.test(file)))).toEqual([]);
  // A reason that no file needs any more goes.
  const needless = SHORT_FOR_A_REASON.filter(([pattern]) => !slivers.some((file) => pattern.test(file)));
  expect(needless.map(([, reason]) => reason)).toEqual([]);
});

test("the lease of a name knows nothing of programs and their conversations: it may be granted elsewhere one day", () => {
  const file = "daemon/names/lease.ts";
  const targets = targetsOf(file, readFileSync(join("src", file), "utf8"));
  expect(targets.length).toBeGreaterThan(5);
  expect(
    targets.filter((target) => /^(?:launch|vendors|daemon\/(?:launch|conversations|custody))\//.test(target)),
  ).toEqual([]);
});
