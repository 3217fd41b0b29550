import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TRANSCRIPT_READ_BYTES } from "../../src/limits/index.ts";
import { folder, placeIn, put, transcript, unasked, VENDORS } from "./fixtures.ts";

/** More than is read at either end. */
const GIANT_BYTES = TRANSCRIPT_READ_BYTES + 1_000;

const IN_FILES = VENDORS.filter(({ facts }) => facts.places.length > 0);

describe.each(IN_FILES)("$vendor", (vendor) => {
  const { adapter, facts } = vendor;
  const [usual = "", ...elsewhere] = facts.places;
  const good = transcript(vendor.vendor, "good");

  test.each(Object.entries(facts.transcripts))("a transcript that is %s", async (name, expected) => {
    const dir = folder();
    const file = put(dir, usual, transcript(vendor.vendor, name, GIANT_BYTES));
    const found = await adapter.storage.probe(placeIn(dir, vendor), null, unasked);
    const sized = found.state === "good" || found.state === "damaged" ? { bytes: statSync(file).size } : {};
    expect(found).toMatchObject({ ...expected, ...sized, file });
    expect("unsaid" in found).toBe("unsaid" in expected);
    expect(await adapter.storage.probe(placeIn(dir, vendor), file, unasked)).toEqual(found);
  });

  test("no transcript, no folder, no config dir: absent", async () => {
    const dir = folder();
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toEqual({ state: "absent" });
    expect(await adapter.storage.probe(placeIn(join(dir, "none"), vendor), join(dir, "gone.jsonl"), unasked)).toEqual({
      state: "absent",
    });
    put(dir, usual.split("/")[0] ?? "", "a file where a folder should be");
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toEqual({ state: "absent" });
  });

  test.each([usual, ...elsewhere])("it is found by its id in %s", async (path) => {
    const dir = folder();
    const gone = put(dir, usual, good);
    rmSync(gone);
    const file = put(dir, path, good);
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toMatchObject({ state: "good", file });
    expect(await adapter.storage.probe(placeIn(dir, vendor), gone, unasked)).toMatchObject({ state: "good", file });
  });

  test.each(facts.nowhere)("what lies in %s is not it", async (path) => {
    const dir = folder();
    put(dir, path, good);
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toEqual({ state: "absent" });
  });

  test("where it was last seen lies another conversation now: that one is never taken for it", async () => {
    const dir = folder();
    const file = put(dir, usual, transcript(vendor.vendor, "other"));
    expect(await adapter.storage.probe(placeIn(dir, vendor), file, unasked)).toMatchObject({ state: "damaged", file });
  });

  test("strange company in the vendor's folders does no harm", async () => {
    const dir = folder();
    const file = put(dir, usual, good);
    for (let up = dirname(usual); up !== "."; up = dirname(up)) put(dir, join(up, ".DS_Store"), "\0");
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toMatchObject({ state: "good", file });
  });

  test("a folder of its name cannot be read, and that is said", async () => {
    const dir = folder();
    mkdirSync(join(dir, usual), { recursive: true });
    expect(await adapter.storage.probe(placeIn(dir, vendor), null, unasked)).toMatchObject({ state: "damaged" });
  });
});

describe("claude", () => {
  test("a prompt that is longer than the parts which are read is not nothing: killed in its first turn, it is not empty", async () => {
    const claude = IN_FILES.find(({ vendor }) => vendor === "claude");
    if (claude === undefined) throw new Error("no facts of claude");
    const { adapter, facts } = claude;
    const line = (fields: object): string => `${JSON.stringify({ sessionId: facts.session, ...fields })}\n`;
    const message = { role: "user", content: "x".repeat(3 * TRANSCRIPT_READ_BYTES) };
    const about = line({ type: "mode" });
    const dir = folder();
    const file = put(dir, facts.places[0] ?? "", about + line({ type: "user", uuid: "u1", message }) + about);
    const found = await adapter.storage.probe(placeIn(dir, claude), null, unasked);
    expect(found).toMatchObject({ state: "good", file, bytes: statSync(file).size });
    put(dir, facts.places[0] ?? "", about + about);
    expect(await adapter.storage.probe(placeIn(dir, claude), null, unasked)).toMatchObject({ state: "empty" });
  });
});
