import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finish, Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

describe("pi-session", () => {
  it("gives each key its own stable file in a private folder and never creates it", async () => {
    const keys = ["abc", "ABC", "a/b", "a_b", "../x", "x".repeat(300), "ä"];
    const paths = await Promise.all(
      keys.map(async (key) => (await home.perdure(["pi-session", key])).stdout.trimEnd()),
    );
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(keys.length);
    for (const path of paths) {
      expect(dirname(path)).toBe(join(home.state, "pi-sessions"));
      expect(existsSync(path)).toBe(false);
    }
    expect(statSync(join(home.state, "pi-sessions")).mode & 0o777).toBe(0o700);
    expect((await home.perdure(["pi-session", "abc"])).stdout.trimEnd()).toBe(paths[0]);
  });

  it.each(["", "  "])("refuses the empty key %j", async (key) => {
    expect((await home.perdure(["pi-session", key])).code).toBe(2);
  });

  it("runs a command while it holds the file; a second holder is refused with the first", async () => {
    const holder = home.spawn([
      "pi-session",
      "k/1",
      "--lock",
      "--",
      "sh",
      "-c",
      'echo "$PERDURE_PI_SESSION"; exec sleep 600',
    ]);
    const path = await new Promise((resolve) =>
      holder.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
    );
    expect(path).toBe((await home.perdure(["pi-session", "k/1"])).stdout.trimEnd());

    const second = await home.perdure(["pi-session", "k/1", "--lock", "--", "true"]);
    expect(second.code).toBe(4);
    expect(second.stderr).toContain(`pid ${holder.pid}`);
    expect((await home.perdure(["pi-session", "k_1", "--lock", "--", "true"])).code).toBe(0);

    const { workers } = await home.json<{ workers: { run: { id: string } | null }[] }>(["ls", "--all"]);
    const ended = finish(holder);
    for (const { run } of workers) if (run) home.killRun(run.id);
    await ended;

    // Free at once, and as exclusive as before: the next holder keeps it from a third.
    const next = home.spawn(["pi-session", "k/1", "--lock", "--", "sh", "-c", "echo; exec sleep 600"]);
    await new Promise((resolve) => next.stdout?.once("data", resolve));
    expect((await home.perdure(["pi-session", "k/1", "--lock", "--", "true"])).code).toBe(4);
  });
});
