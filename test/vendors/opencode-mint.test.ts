import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processTable } from "../../src/runtime/process/index.ts";
import { mintSession } from "../../src/vendors/opencode/mint.ts";
import { folder } from "./fixtures.ts";

const MARK = "PERDURE_MINT_TEST";

let mark: string;
let log: string;
beforeEach(() => {
  mark = randomUUID();
  log = join(folder(), "asked");
});
afterEach(() => {
  for (const pid of left()) process.kill(pid, "SIGKILL");
});

function mint(program: string[], from: string | null = null): Promise<string> {
  const environment = { PATH: process.env.PATH ?? "/usr/bin:/bin", PWD: "/elsewhere", LOG: log, [MARK]: mark };
  return mintSession({ command: program, args: [], name: "coder", cwd: "/tmp", environment, from });
}

/** A stand-in for `opencode serve` with just what is called; it logs each request, its credentials and its folder. */
function serving(answer: string): string[] {
  const script = `const { createServer } = require("node:http"), { appendFileSync } = require("node:fs");
    const port = process.argv.at(-1), password = process.env.OPENCODE_SERVER_PASSWORD;
    createServer(async (request, response) => {
      let body = ""; for await (const chunk of request) body += chunk;
      const known = request.headers.authorization === "Basic " + Buffer.from("opencode:" + password).toString("base64");
      appendFileSync(process.env.LOG, [known, process.env.PWD, request.method, request.url, body].join(" ") + "\\n");
      ${answer}
    }).listen(port, "127.0.0.1", () => console.log("opencode server listening on http://127.0.0.1:" + port));`;
  return [process.execPath, "-e", script, "--"];
}

function left(): number[] {
  return processTable()
    .withVariable(MARK, mark)
    .map(({ pid }) => pid);
}

async function noneLeft(): Promise<boolean> {
  const deadline = performance.now() + 5_000;
  while (left().length > 0 && performance.now() < deadline) await turn();
  return left().length === 0;
}

const GIVES_ID = 'response.end(JSON.stringify({ id: "ses_minted" }));';

test("a conversation is opened under the worker's name, in its folder, and nothing keeps running", async () => {
  expect(await mint(serving(GIVES_ID))).toBe("ses_minted");
  expect(readFileSync(log, "utf8")).toBe('true /tmp POST /session {"title":"coder"}\n');
  expect(await noneLeft()).toBe(true);
});

test("a branch gets the worker's name too", async () => {
  expect(await mint(serving(GIVES_ID), "ses_old")).toBe("ses_minted");
  expect(readFileSync(log, "utf8").split("\n")).toEqual([
    "true /tmp POST /session/ses_old/fork {}",
    'true /tmp PATCH /session/ses_minted {"title":"coder"}',
    "",
  ]);
  expect(await noneLeft()).toBe(true);
});

test.each([
  ["dies at once", ["/bin/sh", "-c", "echo boom >&2; exit 3"], "it ended with 3: boom"],
  ["dies when it is asked", serving("process.exit(4);"), ""],
  ["refuses", serving('response.writeHead(500).end("disk full");'), "disk full"],
  ["answers without an id", serving('response.end("{}");'), "without an id"],
  ["is not there", ["/nowhere/opencode"], "ENOENT"],
])("one that %s: the reason is said, and nothing keeps running", async (_what, program, why) => {
  const refused = { code: "unavailable", message: expect.stringContaining("opencode serve could not open") as string };
  await expect(mint(program)).rejects.toMatchObject(refused);
  await expect(mint(program)).rejects.toThrow(why);
  expect(await noneLeft()).toBe(true);
});
