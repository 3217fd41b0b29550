import { join } from "node:path";
import { expect, test } from "vitest";
import { SETTINGS_MARK } from "../../src/vendors/qwen/program.ts";
import { qwen } from "../../src/vendors/qwen/index.ts";
import { injected } from "../../src/vendors/qwen/settings.ts";
import { folder, put } from "./fixtures.ts";

const RUN = "/home/u/.local/state/perdure/runs/h.api.coder.1";
const OUTER = "/home/u/.local/state/perdure/runs/h.api.lead.1/settings.json";
const DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";
const OURS = { [DEFAULTS]: join(RUN, "settings.json"), [SETTINGS_MARK]: join(RUN, "settings.json") };

test("hooks go into a file of the run's own", () => {
  const { files, variables } = injected(RUN, {});
  expect(files.map(({ name }) => name)).toEqual(["settings.json", "hook"]);
  expect(variables).toEqual(OURS);
});

test("what another worker's launch has set is not the user's", () => {
  expect(injected(RUN, { [DEFAULTS]: OUTER, [SETTINGS_MARK]: OUTER }).variables).toEqual(OURS);
});

test("what the user has set stays, and there are no hooks", () => {
  expect(injected(RUN, { [DEFAULTS]: "/srv/defaults.json" })).toEqual({ files: [] });
  expect(injected(RUN, { [DEFAULTS]: "/srv/defaults.json", [SETTINGS_MARK]: OUTER })).toEqual({ files: [] });
});

test("defaults of an administrator stay, too", () => {
  const dir = folder();
  const env = { QWEN_CODE_SYSTEM_SETTINGS_PATH: join(dir, "settings.json") };
  expect(injected(RUN, env).variables).toEqual(OURS);
  put(dir, "system-defaults.json", "{}");
  expect(injected(RUN, env)).toEqual({ files: [] });
});

test.each([".qwen/settings.json", "api/.qwen/settings.json"])(
  "%s that lets a program talk to qwen leaves it alone",
  (name) => {
    const home = folder();
    const planned = (): string[] => {
      const places = { runDir: RUN, configDir: join(home, ".qwen"), cwd: join(home, "api"), transcript: null };
      const request = { session: "x", name: "coder", args: [], prompt: null, from: null, declared: null };
      return qwen.launch.plan({ step: "new", ...request, ...places }).args;
    };
    expect(planned()).toContain("--input-file");
    put(home, name, JSON.stringify({ dualOutput: { jsonFile: "/tmp/out" } }));
    expect(planned()).not.toContain("--input-file");
  },
);
