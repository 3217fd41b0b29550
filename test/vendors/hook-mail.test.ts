import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hookScript } from "../../src/vendors/shared/hook-script.ts";
import { finish } from "../support/home.ts";
import { folder, put, VENDORS } from "./fixtures.ts";

const WITH_MAIL = VENDORS.filter(({ adapter, hooks }) => adapter.delivery !== undefined && hooks.length > 0);

test("some vendors' hooks hand mail over", () => {
  expect(WITH_MAIL.length).toBeGreaterThan(0);
});

describe.each(WITH_MAIL)("$vendor", ({ adapter, facts, hooks }) => {
  const words = Object.keys(adapter.delivery?.hooks ?? {});
  const foreign = hooks.filter(({ event }) => {
    const id = event.sessionId ?? event.session_id;
    return id !== facts.session && JSON.stringify(event).includes(facts.session);
  });

  test.each(words)("the %s hook of the conversation takes mail", async (word) => {
    expect(await isTaken(word, { session_id: facts.session })).toBe(true);
  });

  test.each(words)("the %s hook of another one, or of an agent below the agent, leaves it alone", async (word) => {
    for (const { event } of foreign) expect(await isTaken(word, event)).toBe(false);
    expect(await isTaken(word, { session_id: facts.other })).toBe(false);
  });

  test.for(words.filter((word) => word === "prompt"))(
    "the %s hook leaves it alone where nobody has said anything",
    async () => {
      expect(await isTaken("prompt", { session_id: facts.session, prompt: "" })).toBe(false);
      expect(await isTaken("prompt", { session_id: facts.session, prompt: 'what of "prompt": ""?' })).toBe(true);
    },
  );

  async function isTaken(word: string, event: object): Promise<boolean> {
    const dir = folder();
    put(dir, "hook", hookScript(dir).text);
    put(join(dir, "mail"), "session", facts.session);
    put(join(dir, "mail"), word, "the mail");
    const child = spawn("/bin/sh", [join(dir, "hook"), word], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.end(JSON.stringify(event));
    const { code, stdout } = await finish(child);
    expect(code).toBe(0);
    expect(stdout).toBe(existsSync(join(dir, "mail")) ? "" : "the mail");
    return !existsSync(join(dir, "mail"));
  }
});
