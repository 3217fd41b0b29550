import { appendFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { writeText } from "../files.ts";
import type { Vendor } from "../vendor.ts";

export const codex: Vendor = {
  name: "codex",
  wire: "responses",
  transcripts: ".codex/sessions/*/*/*/*.jsonl",
  configure(home, modelUrl) {
    // Without the exporter and the plugins it has nobody to call: each of them is worth five seconds without a network.
    const settings = `model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
features.plugins = false
otel.metrics_exporter = "none"

[model_providers.fake]
name = "fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`;
    writeText(join(home, ".codex", "config.toml"), settings);
    return { FAKE_KEY: "made-up" };
  },
  trust(home, folder) {
    const project = `\n[projects.${JSON.stringify(realpathSync(folder))}]\ntrust_level = "trusted"\n`;
    appendFileSync(join(home, ".codex", "config.toml"), project);
  },
  session: { begin: null, resume: (id) => ["resume", id], header: "thread-id" },
  headless: { before: ["exec"], after: (prompt) => ["--json", "--skip-git-repo-check", prompt] },
  // A daemon it starts by itself would outlive the test and hold the session.
  interactive: { before: [], after: ["--no-daemon"] },
  screen: { empty: /^› Ask Codex to do anything/m, busy: /esc to interrupt/, fresh: "/new" },
};
