import { describe, expect, test } from "vitest";
import { whyHeld } from "../../src/vendors/shared/blocked-exit.ts";
import { dialogOn } from "../../src/vendors/shared/screen.ts";
import { screen, VENDORS } from "./fixtures.ts";

describe.each(VENDORS)("$vendor", ({ vendor, adapter, screens, titles }) => {
  test("a vendor whose screen is read has recorded screens", () => {
    const reads = (adapter.dialogs ?? adapter.held) !== undefined;
    expect(screens.some(({ dialog, held }) => (dialog ?? held) !== null)).toBe(reads);
    expect(titles.length > 0).toBe(adapter.title !== undefined);
  });

  test.each(screens)("its screen $screen: $dialog", ({ screen: name, dialog, held }) => {
    const text = screen(vendor, name);
    expect(dialogOn(text, adapter.dialogs)?.reason ?? null).toBe(dialog);
    expect(whyHeld(vendor, text)).toEqual(held);
  });

  test.each(titles)("its title $title", ({ title, shows }) => {
    expect(adapter.title?.(title)).toEqual(shows);
  });

  test("another vendor's screen is not recognised", () => {
    const others = VENDORS.filter((other) => other.vendor !== vendor);
    const texts = others.flatMap((other) => other.screens.map((each) => screen(other.vendor, each.screen)));
    const held = texts.map((text) => ({ own: whyHeld(vendor, text), anybody: whyHeld(null, text) }));
    // As the last words of a program, some of them mean the same whoever says them.
    expect(held.filter(({ own, anybody }) => own !== null && own.line !== anybody?.line)).toEqual([]);
  });
});

describe("an unknown program", () => {
  const said = (...lines: string[]): string => ["working", "still working", ...lines, ""].join("\n");
  test.each([
    ["login", "Error: not logged in"],
    ["login", "You are not signed in. Run `agent login`."],
    ["login", "Please log in again."],
    ["login", "error: invalid API key"],
    ["login", "HTTP 401 Unauthorized"],
    ["login", "Session expired."],
    ["limit", "Rate limit exceeded, try tomorrow"],
    ["limit", "You have reached your weekly usage limit"],
    ["limit", "Error: quota exceeded"],
  ])("%s: %s", (kind, line) => {
    expect(whyHeld(null, said(line))).toEqual({ kind, line });
  });

  test.each([
    ["in the middle of a line", "I saw: not logged in"],
    ["somebody's name", "Login page added"],
    ["a limit that is no limit of its own", "set the rate limit to 5"],
    ["another refusal", "Error: permission denied"],
  ])("nothing by %s", (_, line) => {
    expect(whyHeld(null, said(line))).toBeNull();
  });

  test("that has no login is recognised in colour, as a terminal is sent it", () => {
    const line = "Error: not logged in";
    expect(whyHeld(null, `working\r\n\u001B[31m${line}\u001B[0m\r\n`)).toEqual({ kind: "login", line });
  });

  test("is not on hold for words before its last lines", () => {
    expect(whyHeld(null, said("Error: not logged in", "one", "two", "three"))).toBeNull();
    expect(whyHeld(null, "")).toBeNull();
  });
});
