import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { EventRecord } from "../../../../src/protocol/records/admin.ts";
import { eventually } from "../../../support/check.ts";
import { Home } from "../../../support/home.ts";
import { killDaemon } from "../../../support/persona-installer.ts";

const homes: Home[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.clear();
});

const MINE = '// mine\n{\n  "ui": { "theme": "Dark" }\n}\n';

/** A home with a program that is called gemini and only waits: its settings are changed for it. */
class GeminiHome extends Home {
  readonly settings = join(this.dir, ".gemini", "settings.json");
  run = "";

  async started(): Promise<this> {
    homes.push(this);
    const bin = join(this.dir, "bin");
    for (const folder of [bin, join(this.dir, ".gemini")]) mkdirSync(folder);
    writeFileSync(join(bin, "gemini"), "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
    writeFileSync(this.settings, MINE);
    this.env.PATH = `${bin}:${this.env.PATH}`;
    const { worker } = await this.start("coder", ["gemini"]);
    this.run = worker.run?.id ?? "";
    await eventually("the copy", () => this.#copies().length === 1);
    return this;
  }

  /** Changes a theme in the run's copy, in place, as gemini does. */
  choose(theme: string): void {
    const [copy = ""] = this.#copies();
    const settings = JSON.parse(readFileSync(copy, "utf8")) as object;
    writeFileSync(copy, JSON.stringify({ ...settings, ui: { theme } }, null, 2));
  }

  text(): string {
    return readFileSync(this.settings, "utf8");
  }

  async events(type: string): Promise<unknown[]> {
    const { stdout } = await this.perdure(["events", "--json"]);
    const all = stdout.split("\n").filter((line) => line !== "");
    return all
      .map((line) => JSON.parse(line) as EventRecord)
      .filter((event) => event.type === type)
      .map(({ data }) => data);
  }

  #copies(): string[] {
    return globSync(join(this.state, "runs", "*", ".gemini", "settings.json"));
  }
}

it("a setting that is changed inside a running program is merged into the user's own file", async () => {
  const home = await new GeminiHome().started();
  home.choose("Light");
  await eventually("the change at home", () => home.text().includes("Light"));
  expect(home.text()).toBe(MINE.replace("Dark", "Light"));
  await eventually("the event", async () => (await home.events("settings.merged")).length > 0);
  expect(await home.events("settings.merged")).toEqual([{ file: home.settings, settings: ["ui.theme"] }]);
});

it("a change just before the end is at home when the end is told, also when no daemon saw either", async () => {
  const home = await new GeminiHome().started();
  await killDaemon(home);
  home.choose("Light");
  home.killRun(home.run);
  await home.until("coder", ({ run }) => run === null);
  expect(home.text()).toBe(MINE.replace("Dark", "Light"));
});

it("a change that cannot be made at home lies beside it, and events and doctor say so", async () => {
  const home = await new GeminiHome().started();
  writeFileSync(home.settings, "{{\n");
  home.choose("Light");
  const beside = `${home.settings}.perdure-${home.run}`;
  await eventually("the event", async () => (await home.events("settings.kept")).length > 0);
  expect(await home.events("settings.kept")).toEqual([
    expect.objectContaining({ file: home.settings, settings: ["ui.theme"], kept: beside }),
  ]);
  expect(home.text()).toBe("{{\n");
  expect((await home.perdure(["doctor"])).stdout).toContain(`${beside} has what was changed inside a worker`);
  rmSync(beside);
  expect((await home.perdure(["doctor"])).stdout).not.toContain("changed inside a worker");
});
