import { existsSync, statSync } from "node:fs";
import { connect } from "../client/connect.ts";
import { anchorFile, anchorSettings } from "../project/anchor.ts";
import { readProjectConfig, readUserConfig } from "../project/config.ts";
import { findProject } from "../project/find.ts";
import type { CallParams } from "../protocol/calls.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/results.ts";
import { become, ignoredSignals } from "../runtime/become.ts";
import { recordedEnvironment, workerEnvironment } from "../runtime/environment.ts";
import { findProgram } from "../runtime/find-program.ts";
import { userConfigFile } from "../state/paths.ts";
import type { Command } from "./command.ts";
import { foundHere, placeHere, targetOf } from "./here.ts";
import { shellWords } from "./table.ts";

export const run: Command = {
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
    if (rest?.length === 0)
      throw new PerdureError("usage", "Nothing follows --.", { hint: `perdure run ${target.name} -- COMMAND` });
    const cwd = process.cwd();
    if (rest) programOf(rest, cwd);
    const also = readProjectConfig(found).policy?.environment ?? [];
    const {
      grant,
      command,
      cwd: folder,
    } = await claim({
      target,
      kind: "run",
      pid: process.pid,
      command: rest ? [...rest] : null,
      cwd,
      environment: recordedEnvironment(process.env, also),
    });
    if (!rest) out.note(`perdure: ${grant.address} again: ${shellWords(grant.command ?? [])}  (in ${folder})`);
    const left = predecessorContext(grant.earlierRuns, folder);
    if (left) out.note(`perdure: an earlier run left its context: ${left}`);
    become({
      command,
      cwd: folder,
      form: grant.wrapper,
      runDir: grant.runDir,
      environment: workerEnvironment(process.env, grant, left),
      ignored: ignoredSignals(process.env.PERDURE_SIGIGN),
    });
  },
};

interface Ready {
  grant: ClaimGrant;
  command: string[];
  cwd: string;
}

/** A command used again may have lost its program or its folder: then the name is given back at once. */
async function claim(params: CallParams<"claim">): Promise<Ready> {
  const client = await connect();
  try {
    const grant = await client.call("claim", params);
    try {
      return { grant, ...launchOf(grant) };
    } catch (error) {
      await client.call("release", { run: grant.run, generation: grant.generation });
      throw error;
    }
  } finally {
    client.close();
  }
}

function launchOf(grant: ClaimGrant): { command: string[]; cwd: string } {
  const cwd = grant.cwd ?? process.cwd();
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PerdureError("not-found", `The folder of ${grant.address} is gone: ${cwd}`, {
      hint: `start it where it should be: perdure run ${grant.name} -- COMMAND`,
    });
  }
  const words = grant.command ?? [];
  return { command: [programOf(words, cwd), ...words.slice(1)], cwd };
}

/** The newest context file that an earlier run of this worker never archived. */
function predecessorContext(earlierRuns: string[], cwd: string): string | null {
  const found = findProject(cwd);
  const settings = anchorSettings({}, readProjectConfig(found), readUserConfig(userConfigFile(process.env)));
  const files = earlierRuns.map((run) => anchorFile(found.here, settings, run));
  return files.find((file) => existsSync(file)) ?? null;
}

function programOf(command: readonly string[], cwd: string): string {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  if ("file" in program) return program.file;
  throw new PerdureError("not-found", `Cannot start ${JSON.stringify(command[0] ?? "")}: ${program.missing}.`, {
    hint: "check the spelling, or give its path",
  });
}
