import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LiveSetup } from "./setup.ts";

/** A fleet of the setup's vendor, with everything its program was given in this home. */
export function writeFleet(
  { vendor, traits, home }: LiveSetup,
  folder: string,
  names: readonly string[],
  prompt: string | null,
  more: readonly string[] = [],
  mode: "tmux" | "turn" = "tmux",
): void {
  const args = [...vendor.interactive.before, ...more, ...traits.interactive];
  const variables = Object.keys(home.env).filter((name) => name !== "PATH" && name !== "HOME");
  const said = prompt === null ? "" : `prompt = ${JSON.stringify(prompt)}\n`;
  const lines = [
    `[defaults]\nvendor = "${vendor.name}"\nargs = ${JSON.stringify(args)}\nmode = "${mode}"`,
    ...names.map((name) => `[workers.${name}]\n${said}`),
    `[policy]\nenvironment = ${JSON.stringify(variables)}\n`,
  ];
  writeFileSync(join(folder, "perdure.toml"), lines.join("\n"));
}
