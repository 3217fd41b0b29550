import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await home.clear();
});

interface Context {
  hasUI: boolean;
  ui: { notify(text: string): void };
  sessionManager: { getSessionId(): string; getSessionFile(): string | undefined };
}
type Handler = (args: string, context: Context) => Promise<void>;

/** Loads the extension into a program that was started with these words; returns what /perdure does there. */
async function loaded(argv: string[], env: Record<string, string>): Promise<Handler | null> {
  const { path } = await home.json<{ path: string }>(["extension", "pi"]);
  vi.spyOn(process, "argv", "get").mockReturnValue(argv);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let found: Handler | null = null;
  const module = (await import(path)) as { default: (api: object) => void };
  module.default({
    registerCommand: (name: string, { handler }: { handler: Handler }) => (found = name === "perdure" ? handler : null),
  });
  return found;
}

async function answer(handler: Handler | null, file: string | undefined): Promise<string[]> {
  const said: string[] = [];
  const sessionManager = { getSessionId: () => "s-1", getSessionFile: () => file };
  await handler?.("", { hasUI: true, ui: { notify: (text) => said.push(text) }, sessionManager });
  return said;
}

test("prints a path, and says for whom there is one", async () => {
  const { code, stdout } = await home.perdure(["extension", "pi"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\/.*\/pi-extension\.mjs\n$/);
  const refused = await home.perdure(["extension", "nobody"]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toContain("perdure extension pi");
});

test("a program that is no worker says how it becomes one, with its conversation if there is one", async () => {
  const file = join(home.dir, "s.jsonl");
  const handler = await loaded(["node", "pi"], { PERDURE_RUN: "" });
  expect(await answer(handler, undefined)).toEqual([expect.stringMatching(/not a worker.*perdure run NAME -- pi$/)]);
  expect(await answer(handler, file)).toEqual([expect.stringMatching(/perdure run NAME -- pi$/)]);
  writeFileSync(file, "{}");
  const command = "perdure adopt NAME --vendor pi --conversation s-1 && perdure run NAME";
  expect(await answer(handler, file)).toEqual([expect.stringContaining(command)]);
});

test.each([
  ["a worker's own program has the command already", "host.api.coder.1", "host.api.coder.1", false],
  ["a long name has a folder with a hash", "host.api.Coder.1", "host.api.Coder.1~0123456789", false],
  ["a program inside a worker is none itself", "host.api.coder.1", null, true],
  ["nor is one that has another run's extension", "host.api.coder.1", "host.api.coder.12", true],
])("%s", async (_what, run, folder, answers) => {
  const words = folder === null ? [] : ["-e", `/state/runs/${folder}/extension.mjs`];
  expect((await loaded(["node", "pi", ...words], { PERDURE_RUN: run })) !== null).toBe(answers);
});
