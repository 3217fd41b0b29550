import { homedir } from "node:os";
import { resolve } from "node:path";
import { DIST } from "../../state/paths.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import type { Paint } from "../shared/output.ts";
import { shellWords } from "../../util/shell-quote.ts";

/** Suggests the next commands, with the agents that are installed. */
export function nextSteps(paint: Paint): string[] {
  const isOnPath = (program: string): boolean => "file" in findProgram(program, process.env.PATH, process.cwd());
  const agents = VENDOR_PROGRAMS.filter(({ program }) => isOnPath(program));
  const [first] = agents;
  const found = agents.map(({ vendor }) => vendor).join(", ");
  const run = `perdure run coder ${first ? `-- ${first.program}` : "--vendor scripted"}`;
  const steps: [command: string, why: string][] = [
    ["perdure init && perdure up", "a fleet, in any project"],
    [run, "one agent, in this terminal"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  const links = isOnPath("perdure") ? [] : ["  To have perdure on your PATH:", ...linkCommands(paint)];
  return [
    paint.bold("Now with your own agents"),
    first
      ? `  Agents on your PATH: ${paint.green(found)}`
      : "  No agents on your PATH yet; the built-in one is always available.",
    ...links,
    ...steps.map(([command, why]) => `  ${paint.cyan(command.padEnd(width))}  ${paint.dim(why)}`),
  ];
}

/** Returns the commands that put perdure on PATH, a line each; where the folder of the link is not on it, for this shell and later ones. */
function linkCommands(paint: Paint): string[] {
  const line = `export PATH="$HOME/.local/bin:$PATH"`;
  const commands = [
    "mkdir -p ~/.local/bin",
    `${shellWords(["ln", "-sf", resolve(DIST, "../bin/perdure.js")])} ~/.local/bin/perdure`,
    ...(isFolderOnPath("~/.local/bin") ? [] : [`echo '${line}' >> ~/.profile`, line]),
  ];
  return commands.map((command) => `    ${paint.cyan(command)}`);
}

function isFolderOnPath(folder: string): boolean {
  const wanted = folder.replace("~", homedir());
  return (process.env.PATH ?? "").split(":").some((each) => resolve(each) === wanted);
}
