import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readProjectSettings, readUserSettings, type Settings } from "../../project/config/read.ts";
import { chooseSlug } from "../../project/slug.ts";
import { whoami, type SinceStart } from "../../project/whoami.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { nameKey } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { isBelowService, isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { readIfThere } from "../../state/files.ts";
import { ADDRESS_FILE, DISPLACED_FILE, statePaths, userConfigFile } from "../../state/paths.ts";
import { readProjectsIndex } from "../../state/projects-file.ts";
import { surroundingConversationName } from "../../vendors/programs.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const whoamiCommand: Command = {
  summary: "show who the caller is, and which rule decided it",
  usage: "[--as NAME]",
  details: [
    "First match wins: --as, PERDURE_NAME (then PI_INTERCOM_SESSION_NAME), perdure.toml, the user's config.toml, the name",
    "of the vendor's conversation, a fallback alias without mail. Needs no daemon.",
  ].join("\n"),
  examples: ["perdure whoami", "perdure whoami --json", "perdure whoami --as reviewer"],
  options: { as: { value: "NAME", about: "answer for this name", completes: "worker" } },
  words: [0, 0],

  async run({ values, out }) {
    const env = ownEnvironment();
    let config: Settings | undefined;
    const found = memoize(findProjectHere);
    const projectConfig = (): Settings => (config ??= readProjectSettings(found()));
    const identity = whoami({
      as: typeof values.as === "string" ? values.as : null,
      env,
      nested: () => isNested(processTable(), process.ppid, env.PERDURE_RUN ?? ""),
      sinceStart: () => sinceStartOf(env.PERDURE_RUN ?? ""),
      projectHere: () => slugHere(found(), projectConfig()),
      projectConfig,
      userConfig: () => readUserSettings(userConfigFile(env)),
      conversationName: () => surroundingConversationName(env),
      fingerprint: () => fingerprint(env),
    });
    out.result(identity, () => {
      const run = identity.run ? `  run ${identity.run}, generation ${identity.generation}\n` : "";
      const supervisor = identity.supervisor ? `  a nested agent of ${identity.supervisor}\n` : "";
      const lost = identity.displaced ? "  taken over: the name is no longer this run's\n" : "";
      const alias = env !== process.env ? BELOW_SERVICE : identity.source === "fallback" ? OPERATOR_HERE : NOT_DURABLE;
      const durable = identity.durable ? "" : alias;
      return printable(`${identity.address}\n${run}${lost}${supervisor}  by ${identity.source}${durable}`);
    });
  },
};

/** Returns the environment, without the worker where a vendor's background service has inherited it from whoever started it. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { env } = process;
  if (!env.PERDURE_RUN || !isBelowService(processTable(), process.ppid, env.PERDURE_RUN)) return env;
  const ofWorker = /^(?:PERDURE_(?:PROJECT|NAME|RUN|GENERATION|TOKEN)|PI_INTERCOM_.*|AI_AGENT_ID)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofWorker.test(name)));
}

/** Reads what the daemon has left in a run's folder of its worker, so that no daemon is needed. */
function sinceStartOf(run: string): SinceStart {
  const folder = join(statePaths(process.env).runs, fileNameOf(run));
  return {
    address: readIfReadable(join(folder, ADDRESS_FILE), RUN_FILE_BYTES_MAX).trim() || null,
    displaced: existsSync(join(folder, DISPLACED_FILE)),
  };
}
const BELOW_SERVICE = ", not durable: below a vendor's background service, whose worker nobody can tell";
const NOT_DURABLE = ", not durable: no mail, no lease";
/** The alias is for programs that need some name; mail knows a caller outside of any worker as the operator. */
const OPERATOR_HERE = ", not durable: no worker, so mail knows you as the operator (perdure inbox)";

/** Looks the slug up in the published index, so that no daemon is needed; an unregistered folder gets the slug it would have. */
function slugHere(found: ReturnType<typeof findProjectHere>, config: Settings): string {
  const index = readProjectsIndex(statePaths(process.env).projectsFile);
  const known = index[found.identity];
  if (known !== undefined) return known;
  const taken = new Set(Object.values(index).map(nameKey));
  return chooseSlug(config.project ?? found.base, found.identity, (key) => taken.has(key));
}

/** Identifies the caller's terminal or agent, the same on every call: by AI_AGENT_ID, else by the leader of the process session. */
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

function memoize<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
