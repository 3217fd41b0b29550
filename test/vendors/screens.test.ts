import { describe, expect, test } from "vitest";
import { blockedExitOn } from "../../src/vendors/shared/blocked-exit.ts";
import { dialogOn, unrecordedOn } from "../../src/vendors/shared/screen.ts";
import { screen, VENDORS } from "./fixtures.ts";

describe.each(VENDORS)("$vendor", ({ vendor, adapter, screens, titles }) => {
  test("what it shows in a terminal has been recorded, if that is read", () => {
    const reads = (adapter.screen?.dialogs ?? adapter.screen?.blockedExit) !== undefined;
    expect(screens.some(({ dialog, blockedExit: held }) => (dialog ?? held) !== null)).toBe(reads);
    expect(titles.length > 0).toBe(adapter.screen?.title !== undefined);
  });

  test.each(screens)("its screen $screen: $dialog", ({ screen: name, dialog, blockedExit: held, unrecorded }) => {
    const text = screen(vendor, name);
    expect(dialogOn(text, adapter.screen?.dialogs)?.reason ?? null).toBe(dialog);
    expect(blockedExitOn(text, adapter.screen)).toEqual(held);
    expect(unrecordedOn(text, adapter.screen?.stopsRecording)).toBe(unrecorded ?? null);
  });

  test.each(titles)("its title $title", ({ title, shows }) => {
    expect(adapter.screen?.title?.(title)).toEqual(shows);
  });

  test("what another vendor's screen says is not its own", () => {
    const others = VENDORS.filter((other) => other.vendor !== vendor);
    const texts = others.flatMap((other) => other.screens.map((each) => screen(other.vendor, each.screen)));
    const held = texts.map((text) => ({ own: blockedExitOn(text, adapter.screen), anybody: blockedExitOn(text) }));
    // As the last words of a program, some of them mean the same whoever says them.
    expect(held.filter(({ own, anybody }) => own !== null && own.line !== anybody?.line)).toEqual([]);
  });
});

describe("a program that nobody knows", () => {
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
    expect(blockedExitOn(said(line))).toEqual({ kind, line });
  });

  test.each([
    ["in the middle of a line", "I saw: not logged in"],
    ["somebody's name", "Login page added"],
    ["a limit that is no limit of its own", "set the rate limit to 5"],
    ["another refusal", "Error: permission denied"],
  ])("nothing by %s", (_, line) => {
    expect(blockedExitOn(said(line))).toBeNull();
  });

  test("in colour, and as a terminal is sent it", () => {
    const line = "Error: not logged in";
    expect(blockedExitOn(`working\r\n\u001B[31m${line}\u001B[0m\r\n`)).toEqual({ kind: "login", line });
  });

  test("nothing by what it said before it went on", () => {
    expect(blockedExitOn(said("Error: not logged in", "one", "two", "three"))).toBeNull();
    expect(blockedExitOn("")).toBeNull();
  });
});
