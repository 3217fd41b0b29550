import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "perdure-named-"));
  mkdirSync(join(home, "api", ".git"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

/** The variables that codex's settings name, as `NAME: setting in FILE`, with the home's path left out. */
function named(args: string[], files: Record<string, string>): string[] {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const context = {
    args,
    cwd: join(home, "api"),
    configDir: join(home, ".codex"),
    environment: {},
    etc: join(home, "etc"),
  };
  const found = adapterOf("codex")?.launch.namedVariables?.(context) ?? [];
  return found.map(({ name, namedBy }) => `${name}: ${namedBy.replaceAll(`${home}/`, "")}`);
}

const ACME = '[model_providers.acme]\nname = "acme"\nenv_key = "ACME_KEY"\n';

describe("codex", () => {
  it("takes the key of the provider that is chosen from the variable that its settings name", () => {
    const config = `model_provider = "acme"\n${ACME}[model_providers.other]\nenv_key = "OTHER_KEY"\n`;
    expect(named([], { ".codex/config.toml": config })).toEqual([
      "ACME_KEY: model_providers.acme.env_key in .codex/config.toml",
    ]);
  });

  it("takes headers from variables, too", () => {
    const config = `model_provider = "acme"\n${ACME}env_http_headers = { "x-team" = "ACME_TEAM" }\n`;
    expect(named([], { ".codex/config.toml": config })).toContain(
      "ACME_TEAM: model_providers.acme.env_http_headers in .codex/config.toml",
    );
  });

  it.each([
    ["another provider", ["-c", "model_provider=other", "-c", 'model_providers.other.env_key="OTHER_KEY"']],
    ["the same in one word", ['--config=model_provider="other"', '-cmodel_providers.other={env_key="OTHER_KEY"}']],
  ])("is told %s on its command line", (_what, args) => {
    const config = `model_provider = "acme"\n${ACME}`;
    expect(named(args, { ".codex/config.toml": config })).toEqual([
      "OTHER_KEY: model_providers.other.env_key in the command",
    ]);
  });

  it("reads a profile, and the project's own settings, before the user's", () => {
    const files = {
      ".codex/config.toml": ACME,
      ".codex/work.config.toml": 'model_provider = "acme"\n',
      "api/.codex/config.toml": '[model_providers.acme]\nenv_key = "TEAM_KEY"\n',
    };
    expect(named([], files)).toEqual([]);
    expect(named(["-p", "work"], files)).toEqual(["TEAM_KEY: model_providers.acme.env_key in api/.codex/config.toml"]);
  });

  it.each([
    ["no settings", {}],
    ["a provider of its own", { ".codex/config.toml": 'model_provider = "openai"\n' }],
    ["settings that cannot be read", { ".codex/config.toml": "model_provider = [\n" }],
    ["settings of other types", { ".codex/config.toml": "model_provider = 1\nmodel_providers = 2\n" }],
  ])("names nothing with %s", (_what, files) => {
    expect(named([], files)).toEqual([]);
  });
});
