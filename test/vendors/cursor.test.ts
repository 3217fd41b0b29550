import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cursor } from "../../src/vendors/cursor/index.ts";
import type { MintRequest } from "../../src/vendors/launch-plan.ts";
import { folder, put, unasked, VENDORS } from "./fixtures.ts";

// Never run here: what its documentation and others say is kept to, and no more is claimed.

const { session = "" } = VENDORS.find(({ vendor }) => vendor === "cursor")?.facts ?? {};

test.each([`chats/${session}/store.db`, `chats/0cc175b9c0f1b6a831c399e269772661/${session}/store.db`])(
  "a chat is there if its store is: %s",
  async (path) => {
    const configDir = folder();
    const place = { vendor: "cursor", id: session, configDir, launchCwd: "/home/u/api" };
    expect(await cursor.storage.probe(place, null, unasked)).toEqual({ state: "absent" });
    const file = put(configDir, path, "SQLite format 3");
    expect(await cursor.storage.probe(place, null, unasked)).toMatchObject({ state: "good", file });
  },
);

function mint(script: string): Promise<string> {
  const dir = folder();
  const program = put(dir, "cursor-agent", `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const request: MintRequest = {
    command: [program],
    args: [],
    name: "coder",
    cwd: dir,
    environment: { PATH: "/usr/bin:/bin", HOME: join(dir, "home") },
    from: null,
  };
  if (cursor.launch.identity.kind !== "minted") throw new Error("it makes its own ids");
  return cursor.launch.identity.mint(request);
}

test("cursor's own program makes the id", async () => {
  expect(await mint(`[ "$1" = create-chat ] && echo ${session}`)).toBe(session);
});

test.each([
  ["one that fails", "echo 'not logged in' >&2; exit 1", "not logged in"],
  ["one that says nothing", "exit 0", "exit 0"],
  ["one that says something else", "echo 'a b; rm -rf'", "rm -rf"],
])("%s opens no chat, and its words are told", async (_what, script, told) => {
  await expect(mint(script)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining(told) as string,
  });
});

test("the adapter says that it was never tried with the real program", () => {
  expect(cursor.unproved).toMatch(/never run/);
  expect(cursor.tested).toEqual([]);
});
