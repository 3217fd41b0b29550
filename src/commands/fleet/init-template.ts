/** A perdure.toml that means something as it is, and shows the rest: every `# key = …` and `# [table]` is TOML behind its mark. */
export function fleetTemplate(project: string, vendors: readonly string[]): string {
  // The built-in one is always there: what is written can be used as it is.
  const [first = "scripted", second = first, third = second] = vendors;
  return `# perdure.toml: the names of this project, and the fleet that \`perdure up\` starts. Everything is optional.
# What stands behind a mark like this one is an example: take the mark away to use it.
project = ${JSON.stringify(project)}
# name = "solo"                   # who \`perdure whoami\` answers here; for projects with one agent

# For all workers; each of them can say otherwise.
[defaults]
vendor = ${JSON.stringify(first)}${" ".repeat(Math.max(1, 21 - first.length))}# ${foundOnPath(vendors)}
restart = "on-failure"          # never, on-failure or always
# env = { LOG = "info" }          # never printed, but this file is in git: keep secrets in your own environment

[workers.planner]
# args = ["--model", "NAME"]      # more words for its program, at every start
# prompt = "prompts/planner.md"   # the first turn of a new conversation; {{name}} {{project}} {{peers}} {{root}}
# cwd = "docs"                    # a folder of the project

[workers.coder]
vendor = ${JSON.stringify(second)}
# count = 2                       # coder-1 and coder-2
# worktree = true                 # a git worktree and branch of its own for each, beside the project
# copy = [".env"]                 # files that git ignores, and a new worktree needs
# group = "pair"                  # side by side in one tmux window; perdure send --group pair "…"
# env = { LOG = "debug" }

# [workers.reviewer]
# vendor = ${JSON.stringify(third)}
# restart = "never"

# Any program; it always starts anew.
# [workers.build]
# command = ["make", "watch"]
# restart = "always"

# A program with a declared way to begin a conversation and to resume it.
# [workers.legacy]
# vendor = "custom"
# command = ["my-agent"]
# new = ["--id", "{id}"]
# resume = ["--continue", "{id}"]

# Where a run keeps its notes.
# [context]
# dir = ".ai"
# ext = "md"

# Which conversation every worker is in, as files for other tools.
# [records]
# dir = ".perdure/records"

# [policy]
# agents_may = ["send", "ask", "reply", "inbox"]
# environment = ["AWS_PROFILE"]   # variables recorded for later starts, besides the usual ones
`;
}

function foundOnPath(vendors: readonly string[]): string {
  return vendors.length > 0
    ? `found on PATH: ${vendors.join(", ")}`
    : "no agent was found on PATH; this one is built in, for trying it out";
}
