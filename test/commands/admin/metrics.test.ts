import { afterAll, beforeAll, expect, test } from "vitest";
import type { Metric } from "../../../src/protocol/records/metrics.ts";
import { prometheusText } from "../../../src/commands/admin/prometheus-text.ts";
import { Histogram } from "../../../src/util/histogram.ts";
import { Home } from "../../support/home.ts";
import { TurnHome } from "../../support/turn-home.ts";

interface Family {
  type: string;
  help: string;
  /** The figures by name and labels, in the order of the text. */
  samples: Map<string, number>;
}

const SAMPLE = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\}))?)+)\})? (\S+)$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  gauge: [""],
  counter: [""],
  histogram: ["_bucket", "_sum", "_count"],
};

function check(isRight: boolean, line: string): void {
  if (!isRight) throw new Error(`no line of Prometheus' format: ${line}`);
}

/** Reads the text format as strictly as Prometheus does: HELP and TYPE first, each metric in one piece, no figure twice, no NaN. */
function parse(text: string): Map<string, Family> {
  check(text.endsWith("\n"), "the last one");
  const families = new Map<string, Family>();
  let name = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-z_]+) (\S.*)$/.exec(line);
    const type = /^# TYPE ([a-z_]+) (gauge|counter|histogram)$/.exec(line);
    if (help) {
      name = help[1] ?? "";
      check(!families.has(name), line);
      families.set(name, { type: "", help: help[2] ?? "", samples: new Map() });
      continue;
    }
    const family = families.get(name);
    if (!family) throw new Error(`a line before any HELP: ${line}`);
    if (type) {
      check(type[1] === name && family.type === "" && family.samples.size === 0, line);
      family.type = type[2] ?? "";
      continue;
    }
    const [, sample = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    check(SUFFIXES[family.type]?.some((suffix) => sample === name + suffix) === true, line);
    check(/^[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/.test(value), line);
    check(!family.samples.has(`${sample}{${labels}}`), line);
    family.samples.set(`${sample}{${labels}}`, Number(value));
  }
  return families;
}

let home: TurnHome;
beforeAll(async () => {
  home = new TurnHome("[workers.turner]\n[workers.other]\n");
  await home.up();
});
afterAll(() => home.clear());

async function scrape(): Promise<Map<string, Family>> {
  const { code, stdout, stderr } = await home.perdure(["metrics"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return parse(stdout);
}

function figure(families: Map<string, Family>, name: string, labels = ""): number | undefined {
  return families.get(name.replace(/_(bucket|sum|count)$/, ""))?.samples.get(`${name}{${labels}}`);
}

test("are text that Prometheus reads, with a name that says the unit, for what has happened", async () => {
  const before = await scrape();
  expect(figure(before, "perdure_daemon_up")).toBe(1);
  expect(figure(before, "perdure_workers", 'state="asleep"')).toBe(2);
  expect(figure(before, "perdure_turns_total", 'outcome="answered"')).toBe(0);

  expect((await home.ask("turner", "hello")).code).toBe(0);
  expect((await home.ask("turner", "[[fail something broke]] hello")).code).toBe(5);
  expect((await home.ask("turner", "[[login]] hello", "--timeout", "3s")).code).not.toBe(0);
  await home.until("turner", ({ state }) => state === "on-hold");
  await home.perdure(["pause", "other"]);
  await home.perdure(["send", "other", "for later"]);
  const after = await scrape();
  expect(figure(after, "perdure_turns_total", 'outcome="answered"')).toBe(1);
  // A missing login gives its message back, or not, by the rules of turns.
  const returned = figure(after, "perdure_turns_total", 'outcome="returned"') ?? NaN;
  expect(figure(after, "perdure_turns_total", 'outcome="failed"')).toBe(2 - returned);
  expect(figure(after, "perdure_turn_duration_seconds_count")).toBe(3);
  expect(figure(after, "perdure_turn_duration_seconds_bucket", 'le="+Inf"')).toBe(3);
  expect(figure(after, "perdure_workers", 'state="on-hold"')).toBe(1);
  expect(figure(after, "perdure_workers_needing_you")).toBe(1);
  expect(figure(after, "perdure_needs_you", 'project="api",worker="turner",state="on-hold"')).toBe(1);
  expect(figure(after, "perdure_mail_messages", 'state="dead"')).toBe(2 - returned);
  expect(figure(after, "perdure_mail_messages", 'state="queued"')).toBe(1 + returned);
  expect(figure(after, "perdure_mail_oldest_seconds", 'state="queued"')).toBeGreaterThan(0);
  expect(figure(after, "perdure_mail_oldest_seconds", 'state="offered"')).toBe(0);
  expect(figure(after, "perdure_run_ends_total", 'reason="exited"')).toBe(3);
  expect(figure(after, "perdure_proofs_total", 'result="proved"')).toBeGreaterThan(0);
  expect(figure(after, "perdure_commit_duration_seconds_count")).toBeGreaterThan(
    figure(before, "perdure_commit_duration_seconds_count") ?? Infinity,
  );
  expect(figure(after, "perdure_daemon_resident_memory_bytes")).toBeGreaterThan(1e7);
  expect(figure(after, "perdure_custody_copies")).toBe(1);
  expect(figure(after, "perdure_custody_age_seconds", 'copy="newest"')).toBeGreaterThanOrEqual(0);
  expect([...after].filter(([name, { type }]) => name.endsWith("_total") !== (type === "counter"))).toEqual([]);
});

test("count starts that nobody asked for, how runs ended, and what is offered in a turn that goes on", async () => {
  const fleet = new TurnHome('[workers.turner]\n[workers.crasher]\nmode = "tmux"\n');
  try {
    await fleet.up();
    await fleet.until("crasher", ({ state, session }) => state === "idle" && session?.proved === true);
    await fleet.type("crasher", "/crash 3");
    await fleet.until("crasher", ({ state, generation }) => state === "idle" && generation === 2);
    const { hold, open } = fleet.gate();
    const asked = fleet.ask("turner", `${hold} hello`);
    await fleet.untilTurning("turner");
    const { stdout } = await fleet.perdure(["metrics"]);
    open();
    const families = parse(stdout);
    expect(figure(families, "perdure_restarts_total")).toBe(1);
    expect(figure(families, "perdure_run_ends_total", 'reason="exited"')).toBe(1);
    expect(figure(families, "perdure_workers", 'state="turning"')).toBe(1);
    expect(figure(families, "perdure_workers", 'state="idle"')).toBe(1);
    expect(figure(families, "perdure_mail_messages", 'state="offered"')).toBe(1);
    expect(figure(families, "perdure_mail_oldest_seconds", 'state="offered"')).toBeGreaterThan(0);
    expect(figure(families, "perdure_runs_live")).toBe(2);
    expect((await asked).code).toBe(0);
  } finally {
    await fleet.clear();
  }
});

test("are the same in JSON, and the same series whatever has happened", async () => {
  const { metrics } = await home.json<{ metrics: Metric[] }>(["metrics"]);
  const text = await scrape();
  expect(metrics.map(({ name }) => name)).toEqual([...text.keys()]);
  const states = metrics.find(({ name }) => name === "perdure_workers")?.samples ?? [];
  expect(states).toHaveLength(14);
  expect(states.reduce((total, { value }) => total + value, 0)).toBe(2);
});

test("start no daemon, and say that there is none", async () => {
  const empty = new Home();
  const { code, stdout } = await empty.perdure(["metrics"]);
  expect(code).toBe(0);
  const families = parse(stdout);
  expect(Array.from(families, ([name, { samples }]) => [name, ...samples.values()])).toEqual([
    ["perdure_daemon_up", 0],
  ]);
  expect(empty.daemonPid()).toBeNull();
  await empty.clear();
});

test.each([
  "m 1\n",
  "# HELP m x\n# TYPE m gauge\nm NaN\n",
  "# HELP m x\nm 1\n",
  '# HELP m x\n# TYPE m gauge\nm{a="b"c"} 1\n',
  "# HELP m x\n# TYPE m gauge\nm 1\nm 2\n",
  "# HELP m x\n# TYPE m gauge\nm 1",
])("the reader of these tests takes no other text: %j", (text) => {
  expect(() => parse(text)).toThrow("line");
});

test("labels and help are escaped", () => {
  const samples = [{ name: "m", labels: { a: 'quo"te', b: "back\\slash", c: "new\nline" }, value: 0.5 }];
  const text = prometheusText([{ name: "m", type: "gauge", help: 'a "b" \\ c\nd', samples }]);
  expect(text).toBe(
    '# HELP m a "b" \\\\ c\\nd\n# TYPE m gauge\nm{a="quo\\"te",b="back\\\\slash",c="new\\nline"} 0.5\n',
  );
  expect(parse(text).get("m")?.samples.size).toBe(1);
});

test("a histogram counts each duration in all bounds that it is within", () => {
  const times = new Histogram([1, 2, 5]);
  for (const seconds of [0.5, 1, 1.5, 9]) times.observe(seconds);
  expect([times.cumulative(), times.count, times.sum]).toEqual([[2, 3, 3], 4, 12]);
});

test("a worker that is unusual and needs nobody is not among those that need somebody, as in `wait`", async () => {
  const before = figure(await scrape(), "perdure_workers_needing_you");
  const { worker } = await home.start("sleeper", ["sleep", "600"]);
  process.kill(worker.run?.pid ?? NaN, "SIGSTOP");
  await home.until("sleeper", ({ attention }) => attention === "suspended");
  expect(figure(await scrape(), "perdure_workers_needing_you")).toBe(before);
});
