import { basename, dirname, join } from "node:path";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { codex } from "../../src/vendors/codex/index.ts";
import { folder, placeIn, put, transcript, unasked, VENDORS } from "./fixtures.ts";

const vendor = VENDORS.find((each) => each.vendor === "codex");
if (!vendor) throw new Error("no fixtures of codex");
const { facts } = vendor;
const [usual = "", elsewhere = ""] = facts.places;
const ANOTHER = "01a1ef20-2c94-79b2-9f4b-a725ffad15f5";

/** The name of the file in which codex goes on after a rewind. */
function later(path: string): string {
  return join(dirname(path), basename(path, ".jsonl").concat(`_${ANOTHER}.jsonl`));
}

test("a conversation that was rewound goes on in another file: all that was written to it counts", async () => {
  const dir = folder();
  const first = put(dir, usual, transcript("codex", "good"));
  const before = statSync(first).size;
  const next = put(dir, later(elsewhere), transcript("codex", "good"));
  const probe = async (): ReturnType<typeof codex.storage.probe> =>
    codex.storage.probe(placeIn(dir, vendor), first, unasked);
  expect(await probe()).toMatchObject({ state: "good", file: first, bytes: before + statSync(next).size });
  writeFileSync(next, "{}\n", { flag: "a" });
  expect(await probe()).toMatchObject({ file: first, bytes: before + statSync(next).size });
  // One that is lost makes it shorter, so that a start is refused.
  rmSync(next);
  expect(await probe()).toMatchObject({ file: first, bytes: before });
  // The first one is not mistaken for lost, nor a later one for the first.
  put(dir, later(usual), transcript("codex", "good"));
  expect(await codex.storage.probe(placeIn(dir, vendor), null, unasked)).toMatchObject({ file: first });
  rmSync(first);
  expect(await codex.storage.probe(placeIn(dir, vendor), first, unasked)).toEqual({ state: "absent" });
});

test("a process that has a rewound conversation open shows the file to which it writes", () => {
  const { id } = placeIn("/c", vendor);
  const [first = "", next = ""] = [join("/c", usual), join("/c", later(elsewhere))].toSorted();
  const files = [`/c/thread-writer-locks/${id}.lock`, next, first];
  const processes = { openFiles: () => files } as never;
  expect(codex.liveness.inspect("/c", 7, processes)).toMatchObject([{ session: id, place: "/c", writes: next }]);
});
