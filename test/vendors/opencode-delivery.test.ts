import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { depositMail } from "../../src/launch/deposit.ts";
import { LAUNCH, type WakePlace } from "../../src/vendors/delivery.ts";
import { opencode } from "../../src/vendors/opencode/index.ts";
import { serverFile } from "../../src/vendors/opencode/listen.ts";
import { folder, put } from "./fixtures.ts";

const SESSION = "ses_ours";
const USER = { info: { role: "user", agent: "plan", model: { providerID: "p", modelID: "m" } }, parts: [] };
const ANSWER = { info: { role: "assistant", mode: "build", providerID: "p2", modelID: "m2" }, parts: [] };

let server: Server;
/** The messages of the conversation, and what was posted to it: the path and the body. */
let messages: unknown[];
let posted: [string, unknown][];
let status: number;

beforeEach(async () => {
  [messages, posted, status] = [[], [], 204];
  server = createServer((request, response) => {
    void textOf(request).then((body) => {
      if (request.method === "GET") return response.end(JSON.stringify(messages));
      posted.push([request.url ?? "", JSON.parse(body)]);
      return response.writeHead(status).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function place(): WakePlace {
  const runDir = folder();
  const { name, text } = serverFile(String((server.address() as AddressInfo).port), "made-up");
  put(runDir, name, text);
  const ask = (): Promise<never> => Promise.reject(new Error("not asked"));
  return { runDir, configDir: "/", cwd: "/", session: SESSION, pid: null, args: [], program: () => null, ask };
}

test("mail goes on with the agent and the model of the user's last prompt: another agent may be allowed more", async () => {
  messages = [USER, ANSWER];
  expect(await opencode.delivery?.wake?.wake("hello", place(), "m")).toBe(true);
  const body = { parts: [{ type: "text", text: "hello" }], agent: "plan", model: { providerID: "p", modelID: "m" } };
  expect(posted).toEqual([[`/session/${SESSION}/prompt_async`, body]]);
});

test("in a conversation without any prompt the program chooses", async () => {
  expect(await opencode.delivery?.wake?.wake("hello", place(), "m")).toBe(true);
  expect(posted).toEqual([[`/session/${SESSION}/prompt_async`, { parts: [{ type: "text", text: "hello" }] }]]);
});

test("a server that says no was handed nothing", async () => {
  status = 500;
  await expect(opencode.delivery?.wake?.wake("hello", place(), "m")).rejects.toThrow("with 500");
});

test("a program without a server cannot be reached", async () => {
  const none = { ...place(), runDir: folder() };
  expect(opencode.delivery?.wake?.isOpen?.(none)).toBe(false);
  expect(await opencode.delivery?.wake?.wake("hello", none, "m")).toBe(false);
});

test("the conversation shows a mark, or does not", async () => {
  messages = [USER, { info: { role: "user" }, parts: [{ type: "text", text: "mail (m-1)" }] }];
  expect(await opencode.delivery?.shows?.("m-1", place())).toBe(true);
  expect(await opencode.delivery?.shows?.("m-2", place())).toBe(false);
});

/** A stand-in for opencode: its server logs what is posted, and `export` prints twelve bytes. */
function program(answer: string): string[] {
  const script = `const { createServer } = require("node:http"), { appendFileSync } = require("node:fs");
    const port = process.argv.at(-1);
    if (process.argv.includes("export")) process.stdout.write("x".repeat(12));
    else createServer(async (request, response) => {
      let body = ""; for await (const chunk of request) body += chunk;
      if (request.method === "GET") return response.end(${JSON.stringify(JSON.stringify([USER]))});
      appendFileSync(process.env.LOG, request.url + " " + body + "\\n");
      ${answer}
    }).listen(port, "127.0.0.1", () => console.log("opencode server listening on http://127.0.0.1:" + port));`;
  return [process.execPath, "-e", script, "--"];
}

async function deposit(command: string[], session = SESSION): Promise<{ runDir: string; log: string }> {
  const runDir = folder();
  for (const [name, text] of [
    [LAUNCH, "hello"],
    ["session", SESSION],
    ["piece.json", "{}"],
  ] as const)
    put(join(runDir, "mail"), name, text);
  const log = join(runDir, "log");
  writeFileSync(log, "");
  const order = { session: { vendor: "opencode", id: session, step: "resume", restored: null }, programAt: 3 } as const;
  await depositMail(
    runDir,
    order,
    { command: [...command, "run", "hi"], cwd: "/tmp" },
    { PATH: "/usr/bin:/bin", LOG: log },
  );
  return { runDir, log };
}

function taken(runDir: string): string {
  return join(runDir, readdirSync(runDir).find((name) => name.startsWith(`taken.${LAUNCH}.`)) ?? "none");
}

test("mail of a launch is put into the conversation without an answer, and what is added later is the program's", async () => {
  const { runDir, log } = await deposit(program('response.end("{}");'));
  const body = {
    parts: [{ type: "text", text: "hello" }],
    noReply: true,
    agent: "plan",
    model: { providerID: "p", modelID: "m" },
  };
  expect(readFileSync(log, "utf8")).toBe(`/session/${SESSION}/message ${JSON.stringify(body)}\n`);
  expect(readFileSync(join(runDir, "deposited"), "utf8")).toBe("12");
  expect(existsSync(join(taken(runDir), "shown"))).toBe(true);
});

test("mail of a launch that cannot be put there does not keep the program from starting, and says why", async () => {
  const { runDir } = await deposit(program('response.writeHead(500).end("disk full");'));
  expect(readFileSync(join(taken(runDir), "failed"), "utf8")).toContain("disk full");
  expect(existsSync(join(taken(runDir), "shown"))).toBe(false);
});

test("mail for another conversation stays where it is", async () => {
  const { runDir, log } = await deposit(program('response.end("{}");'), "ses_other");
  expect(existsSync(join(runDir, "mail", LAUNCH))).toBe(true);
  expect(readFileSync(log, "utf8")).toBe("");
});
