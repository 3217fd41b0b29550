import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { statePaths, userConfigFile } from "../../src/state/paths.ts";
import { checkSafeFolder, makeSafeFolder } from "../../src/state/safe-folder.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-state-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const unsafe = (message: RegExp): Error =>
  expect.objectContaining({ code: "unsafe", message: expect.stringMatching(message) as string }) as Error;

test("a folder is made for its owner alone, parents too, whatever the umask", () => {
  const umask = process.umask(0);
  try {
    makeSafeFolder(join(base, "a", "b"));
  } finally {
    process.umask(umask);
  }
  for (const folder of ["a", "a/b"]) expect(statSync(join(base, folder)).mode & 0o777).toBe(0o700);
});

test.each([0o777, 0o770, 0o701, 0o740])("a folder of mode %o is refused, not mended", (mode) => {
  mkdirSync(join(base, "a"));
  chmodSync(join(base, "a"), mode);
  expect(() => makeSafeFolder(join(base, "a"))).toThrow(unsafe(/other users have access to it/));
  expect(statSync(join(base, "a")).mode & 0o777).toBe(mode);
});

test("a planted link or file is refused", () => {
  mkdirSync(join(base, "real"), { mode: 0o700 });
  symlinkSync("real", join(base, "link"));
  writeFileSync(join(base, "file"), "");
  expect(() => checkSafeFolder(join(base, "link"))).toThrow(unsafe(/symbolic link/));
  expect(() => checkSafeFolder(join(base, "file"))).toThrow(unsafe(/not a folder/));
});

test("a folder that somebody else could swap is refused", () => {
  makeSafeFolder(join(base, "open", "a"));
  chmodSync(join(base, "open"), 0o777);
  expect(() => checkSafeFolder(join(base, "open", "a"))).toThrow(unsafe(/everybody may rename/));
  chmodSync(join(base, "open"), 0o1777);
  expect(() => checkSafeFolder(join(base, "open", "a"))).not.toThrow();
});

test("a folder of another user, or below one, is refused", ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root can give a folder to another user");
  makeSafeFolder(join(base, "theirs", "a"));
  chownSync(join(base, "theirs", "a"), 12345, 12345);
  expect(() => checkSafeFolder(join(base, "theirs", "a"))).toThrow(unsafe(/belongs to user 12345/));
  chownSync(join(base, "theirs", "a"), 0, 0);
  chownSync(join(base, "theirs"), 12345, 12345);
  expect(() => checkSafeFolder(join(base, "theirs", "a"))).toThrow(unsafe(/belongs to user 12345/));
});

test("the state is in PERDURE_HOME, else in XDG_STATE_HOME, else in the home; empty counts as unset", () => {
  expect(statePaths({ HOME: "/h" }).dir).toBe("/h/.local/state/perdure");
  expect(statePaths({ HOME: "/h", XDG_STATE_HOME: "/s", PERDURE_HOME: "" }).dir).toBe("/s/perdure");
  expect(statePaths({ HOME: "/h", XDG_STATE_HOME: "/s", PERDURE_HOME: "/p" }).dir).toBe("/p");
  expect(userConfigFile({ HOME: "/h" })).toBe("/h/.config/perdure/config.toml");
  expect(userConfigFile({ HOME: "/h", XDG_CONFIG_HOME: "/c" })).toBe("/c/perdure/config.toml");
});

test.each(["PERDURE_HOME", "XDG_STATE_HOME", "HOME"])("a relative %s is refused", (variable) => {
  expect(() => statePaths({ [variable]: "relative" })).toThrow(expect.objectContaining({ code: "usage" }));
});

test("a socket's path never exceeds 100 bytes, and differs for every deep state folder", () => {
  const inside = statePaths({ HOME: "/h", PERDURE_HOME: `/${"x".repeat(86)}` }).socket;
  expect(inside).toHaveLength(100);
  const [one, two] = ["y", "z"].map(
    (letter) => statePaths({ HOME: "/h", PERDURE_HOME: `/${letter.repeat(87)}` }).socket,
  );
  for (const socket of [one, two]) expect(socket).toMatch(/^\/h\/\.perdure\/[0-9a-f]{12}\/s$/);
  expect(one).not.toBe(two);
  expect(() => statePaths({ HOME: `/${"h".repeat(90)}` })).toThrow(/too long for a socket/);
});
