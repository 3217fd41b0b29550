import { resolve } from "node:path";
import { dist } from "../../client/autostart.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import type { Paint } from "../shared/output.ts";

/** What to type next, with the agents that are really there. */
export function nextSteps(paint: Paint): string[] {
  const there = (program: string): boolean => "file" in findProgram(program, process.env.PATH, process.cwd());
  const agents = VENDOR_PROGRAMS.filter(({ program }) => there(program));
  const [first] = agents;
  const found = agents.map(({ vendor }) => vendor).join(", ");
  const one = `perdure run coder ${first ? `-- ${first.program}` : "--vendor scripted"}`;
  const link = `mkdir -p ~/.local/bin && ln -s ${resolve(dist, "../bin/perdure.js")} ~/.local/bin/perdure`;
  const steps: [command: string, why: string][] = [
    ...(there("perdure") ? [] : [[link, "so that it is on your PATH"] as [string, string]]),
    ["perdure init && perdure up", "a fleet, in any project"],
    [one, "one agent, in this terminal"],
  ];
  const width = Math.max(...steps.slice(-2).map(([command]) => command.length));
  return [
    paint.bold("Now with yours"),
    first
      ? `  Agents on your PATH: ${paint.green(found)}`
      : "  No agents on your PATH yet; the built-in one is always there.",
    ...steps.map(([command, why]) => `  ${paint.cyan(command.padEnd(width))}  ${paint.dim(why)}`),
  ];
}
