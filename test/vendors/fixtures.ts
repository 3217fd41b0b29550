import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { Environment } from "../../src/util/environment.ts";
import type {
  BlockedReason,
  Outward,
  SessionLocation,
  Sign,
  Variables,
} from "../../src/protocol/records/conversation.ts";
import type { BlockedExit } from "../../src/vendors/shared/blocked-exit.ts";
import { adapterNames, adapterOf, type Adapter } from "../../src/vendors/index.ts";

// What is known of a vendor lies in its folder of fixtures; the tests only ask each adapter whether it reads it right.

const VENDORS_FOLDER = resolve(import.meta.dirname, "../../src/vendors");

interface Facts {
  session: string;
  other: string;
  /** Where the vendor may have put the conversation's file, the usual place first. */
  places: string[];
  /** Where a file is not the conversation's, however much its name looks like it. */
  nowhere: string[];
  /** Where the vendor writes a new conversation that begins in /home/u/api: the deepest folder that is known, or the database; null where nothing is. */
  writesTo: string | null;
  /** The folder in which a live process shows itself; null where none does. */
  watchDir: string | null;
  transcripts: Record<string, { state: string; unsaid?: true; version?: string; why?: string }>;
  /** For one that keeps a database: what its program answers when it is asked for the conversation, and what that means. */
  answers?: DatabaseAnswer[];
  config: { env: Environment; dir: string; variables: Variables }[];
  /** Variables without which its program would not work at a later start: keys, endpoints, folders. */
  recordedVariables: string[];
  /** Variables that a vendor's tools find in their environment about the process and conversation they belong to. */
  toolVariables: string[];
  /** The settings of ours, behind `-c` each, that stand as `{hooks}` in the rows of arguments: how they begin. */
  hookSettings?: string;
  /** Variables by each of which a hook knows that a nested agent calls it. */
  nested?: Record<string, string>;
}

export interface DatabaseAnswer {
  what: string;
  code: number | null;
  /** A file among the transcripts. */
  prints: string;
  stderr: string;
  found: { state: string; unsaid?: true; version?: string; why?: string; cwd?: string };
}

interface ArgumentRow {
  args: string[];
  converses: boolean;
  headless: boolean;
  /** The argument that is refused. */
  conflict: string | null;
  new?: string[];
  resume?: string[];
  /** As a new conversation in which something is to be said first. */
  prompted?: string[];
  /** As a branch of the other conversation, for a vendor that branches at the start. */
  fork?: string[];
}

export interface ProcessCase {
  what: string;
  /** In the config dir: JSON, or text as it is. */
  files?: Record<string, object | string>;
  /** Start times by pid. */
  running?: Record<string, string>;
  /** Command lines by pid. */
  argv?: Record<string, string[]>;
  /** Their parents, where they are among them. */
  parents?: Record<string, number>;
  open?: Record<string, string[]>;
  locks?: Record<string, number[]>;
  /** A sign means `open` where nothing else is said. */
  inspect?: Record<string, (Pick<Sign, "session" | "activity" | "blocked" | "place"> & { means?: Sign["means"] })[]>;
  holders: number[];
}

interface HookCase {
  event: Record<string, unknown>;
  sign: Sign | null;
}

export interface Vendor {
  vendor: string;
  adapter: Adapter;
  facts: Facts;
  arguments: ArgumentRow[];
  processes: ProcessCase[];
  hooks: HookCase[];
  screens: ScreenCase[];
  titles: { title: string; shows: Outward | null }[];
}

/** The last screen of a program, by its name in the folder of screens, and what that means. */
interface ScreenCase {
  screen: string;
  dialog: BlockedReason | null;
  blockedExit: BlockedExit | null;
  /** The words that the conversation is no longer recorded; left out where the screen has none. */
  unrecorded?: string;
  /** Written from words that the program has in it: it could not be brought to show them. */
  unseen?: true;
}

/** Adapters that nobody has recorded fixtures for. */
export const UNRECORDED = adapterNames().filter(
  (vendor) => !existsSync(join(VENDORS_FOLDER, vendor, "fixtures", "facts.json")),
);

export const VENDORS: Vendor[] = adapterNames()
  .filter((vendor) => !UNRECORDED.includes(vendor))
  .map(vendorOf);

function vendorOf(vendor: string): Vendor {
  const adapter = adapterOf(vendor);
  if (adapter === null) throw new Error(`${vendor} is listed and not there`);
  const facts = JSON.parse(text(vendor, "facts.json")) as Facts;
  const read = (file: string): unknown => JSON.parse(filled(text(vendor, file), { ...facts }));
  return {
    vendor,
    adapter,
    facts: read("facts.json") as Facts,
    arguments: read("arguments.json") as ArgumentRow[],
    processes: read("processes.json") as ProcessCase[],
    hooks: read("hooks.json") as HookCase[],
    screens: recorded(vendor, "screens.json") as ScreenCase[],
    titles: recorded(vendor, "titles.json") as Vendor["titles"],
  };
}

/** With `{session}` and the like replaced; what is not among the values stays. */
export function filled(template: string, values: object): string {
  const known = new Map<string, unknown>(Object.entries(values));
  return template.replaceAll(/\{([a-zA-Z]+)\}/g, (whole, name: string) => {
    const value = known.get(name);
    return typeof value === "string" ? value : whole;
  });
}

/** Reads a fixture that only some vendors have; the others get an empty list. */
export function recorded(vendor: string, file: string): unknown {
  return existsSync(join(VENDORS_FOLDER, vendor, "fixtures", file)) ? JSON.parse(text(vendor, file)) : [];
}

/** The stdout of a turn that was recorded. */
export function turnOutput(vendor: string, name: string): string {
  return text(vendor, `turns/${name}.jsonl`);
}

export function screen(vendor: string, name: string): string {
  return text(vendor, `screens/${name}.txt`);
}

function text(vendor: string, file: string): string {
  return readFileSync(join(VENDORS_FOLDER, vendor, "fixtures", file), "utf8");
}

export function transcript(vendor: string, name: string, giantBytes = 0): string {
  return filled(text(vendor, `transcripts/${name}.jsonl`), { giant: "x".repeat(giantBytes) });
}

/** A folder that is gone when the test is over. */
export function folder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "perdure-adapter-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function put(dir: string, path: string, content: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** For an adapter that finds on disk all it wants to know. */
export function unasked(): never {
  throw new Error("the vendor's program was asked");
}

export function placeIn(configDir: string, { vendor, facts }: Vendor): SessionLocation {
  return { vendor, id: facts.session, configDir, launchCwd: "/home/u/api" };
}
