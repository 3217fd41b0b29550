import { listOf, WORKERS } from "./old-workers.ts";
import type { UpgradeHome } from "./upgrade-home.ts";

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

/** The JSON output of each command, which may be an error. */
export type Snapshot = Record<string, Json>;

/** Workers with more history than `show` prints: several runs or conversations, a proof, a client. */
const WORKERS_WITH_HISTORY = listOf("coder claudius codette sleeper reader looper guest");

const WITH_MAIL = listOf("sleeper napper shell artist reader guest");

/** Messages whose steps only `mail` prints. */
const MESSAGES_WITH_STEPS = listOf("queued-2 kept injected read question dead cancelled plan-1 expired");

/** Runs every command that reads state, without the worker leaver, which ends between the two daemons. */
export async function takeSnapshot(stage: UpgradeHome): Promise<Snapshot> {
  const commands = [
    ["ls"],
    ["saved"],
    ["project"],
    ["pending"],
    ["inbox", "--all"],
    ...WORKERS.map((name) => ["show", name]),
    ...WORKERS_WITH_HISTORY.map((name) => ["history", name]),
    ...WITH_MAIL.map((name) => ["inbox", name, "--all"]),
    ...MESSAGES_WITH_STEPS.map((id) => ["mail", id]),
  ];
  const snapshot: Snapshot = {};
  const next = async (): Promise<void> => {
    for (let words = commands.shift(); words !== undefined; words = commands.shift()) {
      snapshot[words.join(" ")] = withSortedNames(withoutLeaver(await stage.json<Json>(words)));
    }
  };
  await Promise.all([next(), next()]);
  snapshot.events = await eventsOf(stage);
  return snapshot;
}

/** Lists all events except those of the worker leaver. */
async function eventsOf(stage: UpgradeHome): Promise<Json[]> {
  const { stdout } = await stage.perdure(["events", "--after", "0", "--limit", "20000", "--json"]);
  const events = stdout.split("\n").filter(Boolean);
  return events.map((line) => JSON.parse(line) as Json).filter((event) => !isOf(event, "worker", "leaver"));
}

function withoutLeaver(document: Json): Json {
  if (!isObject(document) || !Array.isArray(document.workers)) return document;
  return { ...document, workers: document.workers.filter((worker) => !isOf(worker, "name", "leaver")) };
}

/** The names of recorded variables are told in their own order since they are kept in it. */
function withSortedNames(document: Json): Json {
  if (!isObject(document) || !Array.isArray(document.environment)) return document;
  return { ...document, environment: document.environment.map(String).toSorted() };
}

/** The only values that the new version tells in other words, each with the reason. */
const CHANGED_VALUES: readonly { field: string; was: string; now: string; why: string }[] = [
  { field: "state", was: "held", now: "on-hold", why: "a lease is held, a worker that waits for a person is on hold" },
  { field: "state", was: "busy", now: "running", why: "busy is an agent at work; nobody can tell what these do" },
  { field: "type", was: "worker.held", now: "worker.on-hold", why: "the event is called after the state" },
];

/** The ways in which a later answer is not the same as the earlier one. Fields may be added; nothing may be gone or changed. */
export function differences(before: Json, after: Json | undefined, path = ""): string[] {
  if (after === undefined) return [`${path} is gone: ${JSON.stringify(before)}`];
  if (Array.isArray(before)) {
    if (!Array.isArray(after)) return [changed(path, before, after)];
    const missing = before.length === after.length ? [] : [`${path} has ${after.length} entries, not ${before.length}`];
    return [...missing, ...before.flatMap((each, at) => differences(each, after[at], `${path}[${at}]`))];
  }
  if (!isObject(before)) return expected(path, before) === after ? [] : [changed(path, before, after)];
  if (!isObject(after)) return [changed(path, before, after)];
  return Object.entries(before).flatMap(([field, value]) => differences(value, after[field], `${path}.${field}`));
}

/** Returns the value that the new version has to tell; the old word where another one is due is a difference. */
function expected(path: string, before: Json): Json {
  return CHANGED_VALUES.find(({ field, was }) => path.endsWith(`.${field}`) && before === was)?.now ?? before;
}

function changed(path: string, before: Json, after: Json): string {
  return `${path} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`;
}

function isOf(value: Json, field: string, wanted: string): boolean {
  return isObject(value) && value[field] === wanted;
}

function isObject(value: Json): value is { [field: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
