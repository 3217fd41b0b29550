import { entryLines } from "../../project/fleet/add-entry.ts";

/**
 * Writes a perdure.toml that can be used as it is, with the other settings commented out: every `# key = …` and `# [table]` is valid
 * TOML. `adopted` are workers of conversations that are there already; `planner` and `coder` are left out if there are only those.
 */
export function fleetTemplate(
  project: string,
  vendors: readonly string[],
  adopted: readonly { name: string; vendor: string }[] = [],
): string {
  // The built-in agent is always installed, so the file can be used as it is.
  const [first = adopted[0]?.vendor ?? "scripted", second = first, third = second] = vendors;
  const tables = [
    ...(vendors.length > 0 || adopted.length === 0 ? [newWorkers(second)] : []),
    ...adopted.map(({ name, vendor }) => `${entryLines(name, { vendor }).join("\n")}\n`),
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

/** Writes the two workers of a new fleet. */
function newWorkers(second: string): string {
  return `[workers.planner]
# args = ["--model", "NAME"]      # more arguments for its program, at every start
# prompt = "prompts/planner.md"   # the first turn of a new conversation; {{name}} {{project}} {{peers}} {{root}}
# cwd = "docs"                    # a folder of the project

[workers.coder]
vendor = ${JSON.stringify(second)}
# count = 2                       # coder-1 and coder-2
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
