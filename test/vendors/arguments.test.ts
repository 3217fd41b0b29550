import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LaunchPlan } from "../../src/vendors/launch-plan.ts";
import { filled, VENDORS } from "./fixtures.ts";

const NAME = "coder";
const RUN_DIR = "/home/u/.local/state/perdure/runs/h.api.coder.1";

/** A first prompt as unpleasant as one can be. */
const PROMPT = '--resume it\'s "here"\n{id} $HOME';

const DECLARED = { new: ["--id", "{id}", "--say={prompt}"], resume: ["--continue", "{id}"] };
const CWD = "/home/u/api";
const CONFIG_DIR = "/home/u/.v";
const TRANSCRIPT = "/home/u/.v/transcript.jsonl";
const OTHER_TRANSCRIPT = "/home/u/.v/other.jsonl";
/** The names that a row of the fixtures may use. */
const FILLED = {
  name: NAME,
  prompt: PROMPT,
  runDir: RUN_DIR,
  configDir: CONFIG_DIR,
  transcript: TRANSCRIPT,
  otherTranscript: OTHER_TRANSCRIPT,
};

describe.each(VENDORS)("$vendor", ({ adapter, facts, arguments: rows }) => {
  const fill = (args: readonly string[]): string[] => args.map((arg) => filled(arg, FILLED));
  const planned = (step: "new" | "resume" | "fork", args: string[], prompt: string | null = null): LaunchPlan => {
    const from = step === "fork" ? { session: facts.other, transcript: OTHER_TRANSCRIPT } : null;
    const transcript = step === "resume" ? TRANSCRIPT : null;
    const places = { runDir: RUN_DIR, cwd: CWD, configDir: CONFIG_DIR, transcript, from, declared: DECLARED };
    return adapter.launch.plan({ step, session: facts.session, name: NAME, args, prompt, ...places });
  };
  const plan = (...request: Parameters<typeof planned>): string[] => folded(planned(...request).args);
  /** The settings of our hooks as one word. */
  const folded = (args: string[]): string[] => {
    const isOurs = (word = ""): boolean => facts.hookSettings !== undefined && word.startsWith(facts.hookSettings);
    const words = args.flatMap((word, at) =>
      isOurs(args[at + 1]) && word === "-c" ? [] : isOurs(word) ? "{hooks}" : word,
    );
    return words.filter((word, at) => word !== "{hooks}" || words[at - 1] !== "{hooks}");
  };
  const titled = rows.map((row) => ({ ...row, line: JSON.stringify(row.args) }));

  test.each(titled)("$line is read", ({ args, converses, headless, conflict }) => {
    const reading = adapter.launch.readArgs(args);
    const [refused = null, why = null] = reading.conflict?.split(": ") ?? [];
    expect({ ...reading, conflict: refused }).toEqual({ converses, headless, conflict });
    expect(why === null).toBe(conflict === null);
  });

  test.each(titled.filter((row) => row.new ?? row.resume))("$line is planned", (row) => {
    expect(plan("new", row.args)).toEqual(fill(row.new ?? []));
    expect(plan("resume", row.args)).toEqual(fill(row.resume ?? []));
  });

  test("one that takes a first prompt has a row for it, and no other", () => {
    expect(rows.some(({ prompted }) => prompted !== undefined)).toBe(adapter.launch.takesFirstPrompt);
  });

  test.each(titled.filter(({ prompted }) => prompted))("$line is planned with a first prompt", (row) => {
    expect(plan("new", row.args, PROMPT)).toEqual(fill(row.prompted ?? []));
  });

  // Their transcripts are there before anything was said, so a resume may be where it is said.
  const found = [...Object.values(facts.transcripts), ...(facts.answers ?? []).map((answer) => answer.found)];
  const writtenAtBirth = found.some(({ unsaid }) => unsaid === true);
  const saying = (step: "new" | "resume", args: string[]): string[] => {
    const silent = planned(step, args);
    const { args: words, files } = planned(step, args, PROMPT);
    const names = files.map(({ name }) => name).filter((name) => !silent.files.some((file) => file.name === name));
    return [...words.filter((word) => !silent.args.includes(word)), ...names];
  };
  test.each(writtenAtBirth ? ["resumed"] : [])("%s, one whose first turn is still to come says it, too", () => {
    expect(saying("resume", [])).not.toEqual([]);
    for (const { args } of rows.filter(({ prompted }) => prompted)) {
      expect(saying("resume", args)).toEqual(saying("new", args));
    }
  });

  test.each(titled.filter(({ converses }) => converses))("$line says nothing first where it must not", (row) => {
    expect(plan("fork", row.args, PROMPT)).toEqual(plan("fork", row.args));
  });

  const silent = titled.filter(
    ({ converses, headless }) => converses && (headless || !adapter.launch.takesFirstPrompt),
  );
  test.each(silent)("$line says nothing first with nobody in front of it", ({ args }) => {
    expect(plan("new", args, PROMPT)).toEqual(plan("new", args));
  });

  test("a vendor that can branch has a row for it, if it does so at the start", () => {
    const rowed = rows.some((row) => row.fork !== undefined);
    const atStart = adapter.launch.forks && adapter.launch.identity.kind === "assigned";
    expect(rowed || !atStart).toBe(true);
  });

  test.each(titled.filter(({ fork }) => fork))("$line is planned as a branch", (row) => {
    expect(plan("fork", row.args)).toEqual(fill(row.fork ?? []));
  });

  test("whatever is given, it is read and planned, with the conversation named once, by its id or its file", () => {
    const word = fc.oneof(fc.constantFrom(...rows.flatMap(({ args }) => args)), fc.string());
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        adapter.launch.readArgs(args);
        for (const step of ["new", "resume"] as const) {
          const named = plan(step, args).map((arg) => arg.replace(/^--[a-z-]+=/, ""));
          expect(named.filter((arg) => arg === facts.session || arg === TRANSCRIPT)).toHaveLength(1);
        }
      }),
    );
  });
});
