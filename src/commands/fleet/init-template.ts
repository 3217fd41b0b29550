import type { WorkerEntry } from "../../project/config/read.ts";
import { entryLines } from "../../project/fleet/add-entry.ts";

/** A worker that the new file is to have, with what it runs. */
export interface TemplateWorker {
  name: string;
  entry: WorkerEntry;
}

/**
 * Writes a perdure.toml that can be used as it is, with the other settings commented out: every `# key = …` and `# [table]` is valid
 * TOML. `known` are workers that are there already, `names` those of the new ones; the new ones are left out if there are only the known.
 */
export function fleetTemplate(
  project: string,
  vendors: readonly string[],
  known: readonly TemplateWorker[] = [],
  names: readonly (string | null)[] = NEW_NAMES,
): string {
  // The built-in agent is always installed, so the file can be used as it is.
  const ofKnown = known.find(({ entry }) => entry.vendor !== undefined)?.entry.vendor;
  const [first = ofKnown ?? "scripted", second = first, third = second] = vendors;
  const isNew = vendors.length > 0 || known.length === 0;
  const [planner = null, coder = null] = isNew ? names : [];
  const tables = [
    ...(planner === null ? [] : [plannerTable(planner, first)]),
    ...(coder === null ? [] : [coderTable(coder, second)]),
    ...known.map(({ name, entry }) => `${entryLines(name, entry).join("\n")}\n`),
  ];
  return `# perdure.toml: the names of this project, and the fleet that \`perdure up\` starts. Everything is optional.
# Commented lines are examples: remove the # to use them.
project = ${JSON.stringify(project)}
# name = "solo"                   # the answer of \`perdure whoami\` here; for projects with one agent

# For all workers; each of them can override it.
[defaults]
vendor = ${JSON.stringify(first)}${" ".repeat(Math.max(1, 21 - first.length))}# ${foundOnPath(vendors)}
restart = "on-failure"          # never, on-failure or always
# env = { LOG = "info" }          # never printed, but this file is in git: keep secrets in your own environment

${tables.join("\n")}
# [workers.reviewer]
# vendor = ${JSON.stringify(third)}
# restart = "never"

# Any program; it starts from scratch each time.
# [workers.build]
# command = ["make", "watch"]
# restart = "always"

# A program with declared arguments that begin a conversation and resume it.
# [workers.legacy]
# vendor = "custom"
# command = ["my-agent"]
# new = ["--id", "{id}"]
# resume = ["--continue", "{id}"]

# Where a run keeps its notes.
# [context]
# dir = ".ai"
# ext = "md"

# Files for other tools that say which conversation every worker is in.
# [records]
# dir = ".perdure/records"

# [policy]
# agents_may = ["send", "ask", "reply", "inbox"]
# environment = ["AWS_PROFILE"]   # more variables that scripts record for later starts; "!NAME" leaves one out
`;
}

/** The names that are offered for the workers of a new fleet. */
export const NEW_NAMES: readonly string[] = ["planner", "coder"];

function plannerTable(name: string, vendor: string): string {
  return `[workers.${name}]
vendor = ${JSON.stringify(vendor)}
# args = ["--model", "NAME"]      # more arguments for its program, at every start
# prompt = "prompts/planner.md"   # the first turn of a new conversation; {{name}} {{project}} {{peers}} {{root}}
# cwd = "docs"                    # a folder of the project
`;
}

function coderTable(name: string, vendor: string): string {
  return `[workers.${name}]
vendor = ${JSON.stringify(vendor)}
# count = 2                       # ${name}-1 and ${name}-2
# worktree = true                 # a git worktree and branch of its own for each, beside the project
# worktree_hooks = true           # git's hooks run while it is made; they are off otherwise
# copy = [".env"]                 # files that git ignores and a new worktree needs
# group = "pair"                  # side by side in one tmux window; perdure send --group pair "…"
# env = { LOG = "debug" }
`;
}

function foundOnPath(vendors: readonly string[]): string {
  return vendors.length > 0
    ? `found on PATH: ${vendors.join(", ")}`
    : "no agent was found on PATH; this one is built in, for trying it out";
}
