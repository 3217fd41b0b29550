import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProgramAnswer, AskProgram } from "../../src/vendors/adapter.ts";
import { filled, folder, placeIn, put, unasked, VENDORS, type DatabaseAnswer } from "./fixtures.ts";

// Vendors whose conversations are in a database: their own program is asked, and what it answers is the fixture.

const VENDORS_FOLDER = resolve(import.meta.dirname, "../../src/vendors");

const IN_DATABASE = VENDORS.filter(({ adapter }) => adapter.storage.archive !== undefined);

describe.each(IN_DATABASE)("$vendor", (vendor) => {
  const { adapter, facts } = vendor;
  const answers = facts.answers ?? [];
  const known = answers.filter(({ found }) => found.state !== "unavailable");

  test.each(known)("it says: $what", async (given) => {
    const dir = folder();
    const [ask, asked] = answering(answerOf(vendor.vendor, given));
    const found = await adapter.storage.probe(placeIn(dir, vendor), null, ask);
    expect(asked).toEqual([adapter.storage.archive?.print(facts.session)]);
    expect(found).toMatchObject(given.found);
    const file = "file" in found ? found.file : dir;
    expect(file.startsWith(dir)).toBe(true);
    const printed = Buffer.byteLength(answerOf(vendor.vendor, given).stdout);
    expect(found.state === "good" ? found.bytes : printed).toBe(printed);
  });

  test.each(answers.filter(({ found }) => found.state === "unavailable"))("it says $what: an error", async (given) => {
    const [ask] = answering(answerOf(vendor.vendor, given));
    await expect(adapter.storage.probe(placeIn(folder(), vendor), null, ask)).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(adapter.storage.list(folder(), 5, ask)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("an id it never gave out is not even asked for", async () => {
    const place = { ...placeIn(folder(), vendor), id: "6531ac95-3dac-4d93-8746-f535f218218f" };
    expect(await adapter.storage.probe(place, null, unasked)).toEqual({ state: "absent" });
  });

  test("a database of the user's own is the file itself", async () => {
    const file = put(folder(), "talks.db", "x");
    const good = known.find(({ found }) => found.state === "good");
    const [ask] = answering(answerOf(vendor.vendor, good ?? { ...NOTHING }));
    expect(await adapter.storage.probe(placeIn(file, vendor), null, ask)).toMatchObject({ state: "good", file });
  });

  test("a listing is its program's own, and none is an empty one", async () => {
    const row = {
      id: facts.session,
      title: "coder",
      updated: 7,
      created: 5,
      projectId: "global",
      directory: "/home/u/api",
    };
    const [ask, asked] = answering({ code: 0, stdout: JSON.stringify([row, { id: 3 }, null]), stderr: "" });
    expect(await adapter.storage.list("/none", 5, ask)).toEqual([
      { id: facts.session, file: null, cwd: "/home/u/api", words: "coder", atMs: 7 },
    ]);
    expect(asked[0]).toContain("5");
    expect(await adapter.storage.list("/none", 5, answering({ code: 0, stdout: "", stderr: "" })[0])).toEqual([]);
  });
});

const NOTHING: DatabaseAnswer = { what: "", code: 1, prints: "empty", stderr: "", found: { state: "absent" } };

function answerOf(vendor: string, { code, prints, stderr }: DatabaseAnswer): ProgramAnswer {
  const stdout = readFileSync(join(VENDORS_FOLDER, vendor, "fixtures", "transcripts", `${prints}.json`), "utf8");
  return { code, stdout, stderr: filled(stderr, {}) };
}

function answering(answer: ProgramAnswer): [AskProgram, (readonly string[])[]] {
  const asked: (readonly string[])[] = [];
  const ask: AskProgram = (args) => {
    asked.push(args);
    return Promise.resolve(answer);
  };
  return [ask, asked];
}
