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
  const link = linkCommand(isFolderOnPath("~/.local/bin"));
  const steps: [command: string, why: string][] = [
    ...(isOnPath("perdure") ? [] : [[link, "put perdure on your PATH"] as [string, string]]),
    ["perdure init && perdure up", "a fleet, in any project"],
    [run, "one agent, in this terminal"],
  ];
  const width = Math.max(...steps.slice(-2).map(([command]) => command.length));
  return [
    paint.bold("Now with your own agents"),
    first
      ? `  Agents on your PATH: ${paint.green(found)}`
      : "  No agents on your PATH yet; the built-in one is always available.",
    ...steps.map(([command, why]) => `  ${paint.cyan(command.padEnd(width))}  ${paint.dim(why)}`),
  ];
}

/** Returns the command that puts perdure on PATH; where the folder of the link is not on it, for this shell and for later ones. */
function linkCommand(isFound: boolean): string {
  const link = `mkdir -p ~/.local/bin && ${shellWords(["ln", "-sf", resolve(DIST, "../bin/perdure.js")])} ~/.local/bin/perdure`;
  const line = `export PATH="$HOME/.local/bin:$PATH"`;
  return isFound ? link : `${link} && echo '${line}' >> ~/.profile && ${line}`;
}

function isFolderOnPath(folder: string): boolean {
  const wanted = folder.replace("~", homedir());
  return (process.env.PATH ?? "").split(":").some((each) => resolve(each) === wanted);
}
