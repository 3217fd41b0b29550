import { existsSync } from "node:fs";
import { anchorFile, anchorSettings, type AnchorSettings } from "../project/anchor.ts";
import { readProjectConfig, readUserConfig } from "../project/config.ts";
import { findProject } from "../project/find.ts";
import type { Target } from "../protocol/calls.ts";
import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import { become, inheritedFrom } from "../runtime/become.ts";
import { recordedEnvironment, workerEnvironment } from "../runtime/environment.ts";
import { userConfigFile } from "../state/paths.ts";
import { ask } from "./ask.ts";
import { claimForLaunch, launchOf, programOf } from "./claim.ts";
import type { Command } from "./command.ts";
import { foundHere, placeHere, targetOf } from "./here.ts";
import { shellWords } from "./table.ts";

export const runCommand: Command = {
  summary: "start a program under a name, here, in the foreground",
  usage: "NAME [-- COMMAND…]",
  details: [
    "The name has one owner at a time: while it runs, a second `run` is refused (exit 4). Without `--` the",
    "command of last time is used again, in its folder of last time. The exit code is the program's own.",
  ].join("\n"),
  examples: ["perdure run coder -- claude --model opus", "perdure run coder", "perdure run build -- make -j4"],
  words: [1, 1],
  takesRest: true,

  // resolve → look for the program → claim → become the wrapper, which starts the program
  async run({ words, rest, out }) {
    const found = foundHere();
    const target = targetOf(words[0] ?? "", placeHere(found));
    if (rest?.length === 0) {
      throw new PerdureError("usage", "Nothing follows --.", { hint: `perdure run ${target.name} -- COMMAND` });
    }
    const cwd = process.cwd();
    await assertStartable(target, rest, cwd);
    const config = readProjectConfig(found);
    const anchors = anchorSettings({}, config, readUserConfig(userConfigFile(process.env)));
    const environment = recordedEnvironment(process.env, config.policy?.environment ?? []);
    const command = rest ? [...rest] : null;
    const launch = await claimForLaunch({ target, command, cwd, environment, ephemeral: false });
    const { grant } = launch;
    if (!rest) out.note(`perdure: ${grant.address} again: ${shellWords(grant.command ?? [])}  (in ${launch.cwd})`);
    const left = predecessorContext(grant.earlierRuns, anchors, launch.cwd);
    if (left) out.note(`perdure: an earlier run left its context: ${left}`);
    become({
      command: launch.command,
      cwd: launch.cwd,
      form: grant.wrapper,
      runDir: grant.runDir,
      environment: workerEnvironment(process.env, grant, left),
      inherited: inheritedFrom(process.env),
    });
  },
};

/** Before anything is claimed: a start that cannot be must not cost a generation. */
async function assertStartable(target: Target, rest: readonly string[] | null, cwd: string): Promise<void> {
  if (rest) return void programOf(rest, cwd);
  const stored = await ask("show", { target }).catch((error: unknown) => {
    // A name nobody has: the claim says what is missing.
    if (isPerdureError(error) && error.code === "not-found") return null;
    throw error;
  });
  if (stored !== null && stored.command !== null) launchOf(stored);
}

/** The newest context file that an earlier run of this worker never archived. */
function predecessorContext(earlierRuns: string[], settings: AnchorSettings, cwd: string): string | null {
  const { here } = findProject(cwd);
  const files = earlierRuns.map((earlier) => anchorFile(here, settings, earlier));
  return files.find((file) => existsSync(file)) ?? null;
}
