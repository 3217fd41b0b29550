import { readProjectConfig, readUserConfig, type Config } from "../../project/config/read.ts";
import { chooseSlug } from "../../project/slug.ts";
import { whoami } from "../../project/whoami.ts";
import { nameKey } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { readIfThere } from "../../state/files.ts";
import { statePaths, userConfigFile } from "../../state/paths.ts";
import { readProjectsIndex } from "../../state/projects-file.ts";
import { sessionName } from "../../vendors/programs.ts";
import type { Command } from "../shared/command.ts";
import { foundHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const whoamiCommand: Command = {
  summary: "who the caller is, and which rule said so",
  usage: "[--as NAME]",
  details: [
    "First match wins: --as, PERDURE_NAME (then PI_INTERCOM_SESSION_NAME), perdure.toml, the user's",
    "config.toml, the name of the vendor's session, a fallback alias that has no mail. Needs no daemon.",
  ].join("\n"),
  examples: ["perdure whoami", "perdure whoami --json", "perdure whoami --as reviewer"],
  options: { as: { type: "string" } },
  words: [0, 0],

  async run({ values, out }) {
    const { env } = process;
    let config: Config | undefined;
    const found = once(foundHere);
    const projectConfig = (): Config => (config ??= readProjectConfig(found()));
    const identity = whoami({
      as: typeof values.as === "string" ? values.as : null,
      env,
      nested: () => isNested(processTable(), process.ppid, env.PERDURE_RUN ?? ""),
      projectHere: () => slugHere(found(), projectConfig()),
      projectConfig,
      userConfig: () => readUserConfig(userConfigFile(env)),
      sessionName: () => sessionName(env),
      fingerprint: () => fingerprint(env),
    });
    out.result(identity, () => {
      const run = identity.run ? `  run ${identity.run}, generation ${identity.generation}\n` : "";
      const supervisor = identity.supervisor ? `  a nested agent of ${identity.supervisor}\n` : "";
      const durable = identity.durable ? "" : ", not durable: no mail, no lease";
      return printable(`${identity.address}\n${run}${supervisor}  by ${identity.source}${durable}`);
    });
  },
};

/** From the published index, so that no daemon is needed; a folder that is no project yet shows what it would be. */
function slugHere(found: ReturnType<typeof foundHere>, config: Config): string {
  const index = readProjectsIndex(statePaths(process.env).projectsFile);
  const known = index[found.identity];
  if (known !== undefined) return known;
  const taken = new Set(Object.values(index).map(nameKey));
  return chooseSlug(config.project ?? found.base, found.identity, (key) => taken.has(key));
}

/** The same for every call from one terminal or one agent: of whoever set AI_AGENT_ID, else of the session's leader. */
function fingerprint(env: NodeJS.ProcessEnv): string {
  if (env.AI_AGENT_ID && env.AI_AGENT_ID !== env.PERDURE_RUN) return sha256(env.AI_AGENT_ID).slice(0, 8);
  const own = (readIfThere("/proc/self/stat") ?? "").replace(/^.*\) /s, "").split(" ");
  const session = own[3] ?? String(process.ppid);
  const leader = (readIfThere(`/proc/${session}/stat`) ?? "").replace(/^.*\) /s, "").split(" ");
  return `${base36(session)}-${base36(leader[19] ?? "0")}`;
}

function base36(number: string): string {
  return Number(number).toString(36);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
