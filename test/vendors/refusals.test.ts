import { describe, expect, test } from "vitest";
import { refusalOn } from "../../src/vendors/shared/screen.ts";
import { recorded, VENDORS } from "./fixtures.ts";

const REFUSING = VENDORS.filter(({ adapter }) => adapter.storage.refusals !== undefined);

test("A4: every vendor that was run has words for a conversation it does not resume", () => {
  const proved = VENDORS.filter(({ adapter, vendor }) => adapter.unproved === null && vendor !== "scripted");
  expect(REFUSING.map(({ vendor }) => vendor)).toEqual(proved.map(({ vendor }) => vendor));
});

describe.each(REFUSING)("$vendor", ({ vendor, adapter }) => {
  test.each(recorded(vendor, "refusals.json") as { screen: string; refusal: string | null }[])(
    "A4: $screen",
    ({ screen, refusal }) => {
      const ended = `${screen}\n\n\nPane is dead (status 1, Wed Nov 18 08:21:54 2026)\n`;
      expect(refusalOn(ended, adapter.storage.refusals)).toBe(refusal);
    },
  );

  test("A4: the same options with another prompt are the same", () => {
    const options = (args: string[]): string[] | undefined => adapter.launch.options?.(args);
    expect(options(["--model", "m", "-p", "one"])).toEqual(options(["--model", "m", "-p", "two"]));
    expect(options(["--model", "m", "-p", "one"])).not.toEqual(
      options(["--model", "m", "--no-such-option", "-p", "one"]),
    );
    expect(options(["--model", "m"])).not.toEqual(options(["--model", "n"]));
  });
});
