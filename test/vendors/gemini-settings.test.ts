// What its user changes inside gemini lands in the overlay of the run, and is merged into the user's own settings.
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { MergedSettings } from "../../src/vendors/adapter.ts";
import { gemini } from "../../src/vendors/gemini/index.ts";
import type { LaunchFile } from "../../src/vendors/launch-plan.ts";
import { folder, put } from "./fixtures.ts";

const MINE = `// mine
{
  "ui": { "theme": "Dark" }, // at night
  "hooks": { "AfterAgent": [{ "hooks": [{ "type": "command", "command": "mine" }] }] },
  "mcpServers": {
    "own": {
      "command": "own"
    }
  }
}
`;

type Settings = Record<string, Record<string, unknown>>;

/** A home with settings, and a run that was started on them. */
class Started {
  readonly home = folder();
  readonly runDir = join(folder(), "run-1");
  readonly file = join(this.home, ".gemini", "settings.json");
  /** In the order in which they are written. */
  readonly files: readonly LaunchFile[];

  constructor(text: string | null) {
    mkdirSync(dirname(this.file));
    if (text !== null) put(this.home, ".gemini/settings.json", text);
    const request = {
      step: "new" as const,
      session: "11111111-1111-4111-8111-111111111111",
      name: "coder",
      args: [],
      prompt: null,
      transcript: null,
      from: null,
      declared: null,
      cwd: "/",
      runDir: this.runDir,
      configDir: this.home,
    };
    const plan = gemini.launch.plan(request);
    this.files = gemini.launch.withTools?.(plan, request).files ?? [];
    for (const { name, text: content } of this.files) {
      mkdirSync(dirname(join(this.runDir, name)), { recursive: true });
      writeFileSync(join(this.runDir, name), content);
    }
  }

  /** Changes the overlay's settings, as gemini does. */
  changes(change: (settings: Settings) => void): void {
    const copy = join(this.runDir, ".gemini", "settings.json");
    const settings = JSON.parse(readFileSync(copy, "utf8")) as Settings;
    change(settings);
    writeFileSync(copy, JSON.stringify(settings, null, 2));
  }

  merge(): MergedSettings | null {
    return gemini.launch.savedSettings?.merge(this.runDir, this.home) ?? null;
  }

  text(): string {
    return readFileSync(this.file, "utf8");
  }
}

test("nothing changed, or only written anew: the user's file is not touched", () => {
  const run = new Started(MINE);
  expect(run.merge()).toBeNull();
  run.changes(() => undefined);
  expect(run.merge()).toBeNull();
  expect(run.text()).toBe(MINE);
});

test("a start that is still writing its files changes nothing", () => {
  const run = new Started(MINE);
  const whole = run.files.map(
    ({ name }) => [join(run.runDir, name), readFileSync(join(run.runDir, name), "utf8")] as const,
  );
  for (const [file] of whole) rmSync(file);
  for (const [file, text] of whole) {
    for (const written of ["", text]) {
      writeFileSync(file, written);
      expect(run.merge()).toBeNull();
    }
  }
  expect(run.text()).toBe(MINE);
});

test("a change is made in the user's file, with its comments, and nothing of ours with it", () => {
  const run = new Started(MINE);
  chmodSync(run.file, 0o640);
  run.changes((settings) => {
    settings.ui = { ...settings.ui, theme: "Light" };
    settings.general = { ...settings.general, vimMode: true };
  });
  expect(run.merge()).toEqual({ file: run.file, settings: ["ui.theme", "general.vimMode"], kept: null });
  expect(run.text()).toBe(
    MINE.replace('"Dark"', '"Light"').replace("  }\n}\n", '  },\n  "general": {\n    "vimMode": true\n  }\n}\n'),
  );
  expect(statSync(run.file).mode & 0o777).toBe(0o640);
  expect(run.merge()).toBeNull();
});

test("without settings there are some afterwards: those that were changed", () => {
  const run = new Started(null);
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  expect(run.merge()?.kept).toBeNull();
  expect(JSON.parse(run.text())).toEqual({ ui: { theme: "Light" } });
});

test("hooks and servers that were added or removed are merged; ours stay behind, whatever became of them", () => {
  const run = new Started(MINE);
  run.changes((settings) => {
    const { own: _own, perdure: _ours, ...others } = settings.mcpServers ?? {};
    settings.mcpServers = { ...others, second: { command: "second" } };
    settings.hooks = { ...settings.hooks, AfterTool: [settings.hooks?.AfterTool, { hooks: [] }].flat() };
  });
  expect(run.merge()?.settings).toEqual(["hooks.AfterTool", "mcpServers.own", "mcpServers.second.command"]);
  expect(run.text()).not.toContain("perdure");
  expect(run.text()).toContain("// at night");
  expect(JSON.parse(run.text().replaceAll(/\/\/.*/g, ""))).toMatchObject({
    hooks: { AfterAgent: [{ hooks: [{ command: "mine" }] }], AfterTool: [{ hooks: [] }] },
    mcpServers: { second: { command: "second" } },
  });
});

test("two runs and the user change the same file: each only what was changed there", () => {
  const run = new Started(MINE);
  writeFileSync(run.file, MINE.replace("{\n", '{\n  "model": { "name": "by hand" },\n'));
  run.changes((settings) => {
    settings.model = { maxSessionTurns: 5 };
  });
  expect(run.merge()?.settings).toEqual(["model.maxSessionTurns"]);
  expect(JSON.parse(run.text().replaceAll(/\/\/.*/g, ""))).toMatchObject({
    model: { name: "by hand", maxSessionTurns: 5 },
    ui: { theme: "Dark" },
  });
});

test("what the user takes back by hand is not brought again by another change", () => {
  const run = new Started(MINE);
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  run.merge();
  writeFileSync(run.file, MINE);
  run.changes((settings) => {
    settings.general = { ...settings.general, vimMode: true };
  });
  expect(run.merge()?.settings).toEqual(["general.vimMode"]);
  expect(run.text()).toContain('"Dark"');
});

test("a link stays one: the file that it leads to is changed", () => {
  const run = new Started(null);
  const dotfiles = put(folder(), "gemini.json", "{}\n");
  symlinkSync(dotfiles, run.file);
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  run.merge();
  expect(readlinkSync(run.file)).toBe(dotfiles);
  expect(JSON.parse(readFileSync(dotfiles, "utf8"))).toEqual({ ui: { theme: "Light" } });
});

test("settings that cannot be changed stay as they are; the changes lie beside them until they can", () => {
  const run = new Started(MINE);
  const broken = MINE.replace("{\n", "{{\n");
  writeFileSync(run.file, broken);
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  const beside = `${run.file}.perdure-run-1`;
  expect(run.merge()).toMatchObject({ settings: ["ui.theme"], kept: { file: beside } });
  expect(run.text()).toBe(broken);
  expect(JSON.parse(readFileSync(beside, "utf8"))).toEqual({ "ui.theme": "Light" });
  expect(gemini.launch.savedSettings?.leftBeside(run.home)).toEqual([beside]);

  writeFileSync(run.file, MINE);
  expect(run.merge()).toMatchObject({ kept: null });
  expect(run.text()).toContain('"Light"');
  expect(gemini.launch.savedSettings?.leftBeside(run.home)).toEqual([]);
});

test("a link that leads nowhere stays one, too: whoever made it will bring the file", () => {
  const run = new Started(null);
  symlinkSync("/nowhere/gemini.json", run.file);
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  expect(run.merge()?.kept).toMatchObject({ file: `${run.file}.perdure-run-1` });
  expect(readlinkSync(run.file)).toBe("/nowhere/gemini.json");
});

test("settings that were emptied this moment may be about to be written; those that are empty for longer are none", () => {
  const run = new Started(null);
  writeFileSync(run.file, "");
  run.changes((settings) => {
    settings.ui = { theme: "Light" };
  });
  expect(run.merge()?.kept?.problem).toMatch(/is empty: another program may be writing it/);
  expect(run.text()).toBe("");
  utimesSync(run.file, 1, 1);
  expect(run.merge()?.kept).toBeNull();
  expect(JSON.parse(run.text())).toEqual({ ui: { theme: "Light" } });
});

test.each(['{ "ui": ', "{", "[]"])("a copy that is not whole (%j), as while gemini writes it, is no change", (text) => {
  const run = new Started(MINE);
  writeFileSync(join(run.runDir, ".gemini", "settings.json"), text);
  expect(() => run.merge()).toThrow(/cannot be read/);
  expect(run.text()).toBe(MINE);
});

test.each(["", "\n"])("a copy that gemini has emptied to write it anew (%j) is no change", (text) => {
  const run = new Started(MINE);
  writeFileSync(join(run.runDir, ".gemini", "settings.json"), text);
  expect(run.merge()).toBeNull();
  expect(run.text()).toBe(MINE);
});
