import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

it("a program with a declared way to begin and to go on is told its id, and comes back in it", async () => {
  const { home } = installPersona("scripted");
  const log = join(home.dir, "log");
  const program = join(home.dir, "my-agent");
  writeFileSync(program, `#!/bin/sh\necho "$*" >> '${log}'\n`);
  chmodSync(program, 0o755);
  const declared = ["--vendor", "custom", "--new-args=--id {id} --title {name}", "--resume-args=--continue {id}"];
  expect((await home.perdure(["run", "mine", ...declared, "--", program, "--flag"])).code).toBe(0);
  const id = (await home.until("mine", ({ run }) => run === null)).session?.id ?? "";
  expect((await home.perdure(["run", "mine"])).code).toBe(0);
  expect((await home.perdure(["run", "mine", "--fresh"])).code).toBe(0);
  const fresh = (await home.until("mine", ({ run }) => run === null)).session?.id ?? "";
  expect(readFileSync(log, "utf8").trim().split("\n")).toEqual([
    `--id ${id} --title mine --flag`,
    `--continue ${id} --flag`,
    `--id ${fresh} --title mine --flag`,
  ]);

  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  expect(workers).toMatchObject([
    { vendor: "custom", unproved: expect.stringContaining("only its own program") as string },
  ]);
  expect((await home.perdure(["ls"])).stdout).toContain("custom (unproved)");
});

it("a custom program without both declarations, or a command, is refused", async () => {
  const { home } = installPersona("scripted");
  for (const words of [
    ["--", "true"],
    ["--new-args=x", "--resume-args={id}", "--", "true"],
    ["--new-args={id}", "--resume-args={id}"],
  ]) {
    const refused = await home.perdure(["run", "mine", "--vendor", "custom", ...words]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--new-args='--id {id}'");
  }
});

it("the former names of the declarations, --new and --resume, are still accepted", async () => {
  const { home } = installPersona("scripted");
  const declared = ["--vendor", "custom", "--new={id}", "--resume={id}"];
  expect(await home.perdure(["run", "mine", ...declared, "--", "true"])).toMatchObject({ code: 0 });
  expect((await home.until("mine", ({ run }) => run === null)).session?.id).toMatch(/^[0-9a-f-]{36}$/);
});
