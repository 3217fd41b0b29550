import { existsSync } from "node:fs";
import { join } from "node:path";
import { isBelowService, isNested } from "../launch/nesting.ts";
import { RUN_FILE_BYTES_MAX } from "../limits/index.ts";
import { readProjectSettings, readUserSettings, type Settings } from "../project/config/read.ts";
import type { FoundProject } from "../project/find.ts";
import { chooseSlug } from "../project/slug.ts";
import { whoami, type Identity, type SinceStart } from "../project/whoami.ts";
import type { ProjectRef, Target } from "../protocol/calls/index.ts";
import { fileNameOf } from "../protocol/foreign-id.ts";
import { nameKey } from "../protocol/names.ts";
import { processTable } from "../runtime/process/index.ts";
import { readIfReadable } from "../state/bounded-read.ts";
import { readIfThere } from "../state/files.ts";
import { ADDRESS_FILE, DISPLACED_FILE, statePaths, userConfigFile } from "../state/paths.ts";
import { readProjectsIndex } from "../state/projects-file.ts";
import { sha256 } from "../util/sha256.ts";
import { variableOf, type Environment } from "../util/environment.ts";
import { surroundingConversationName } from "../vendors/programs.ts";
import { tokenFor } from "./token.ts";

/** Who asks: the environment, the process, and the folder it stands in, which is only looked up if it is needed. */
export interface Caller {
  env: Environment;
  /** The process below which a nested agent would stand: of a command its parent, of a program that uses the library itself. */
  pid: number;
  findProject: () => FoundProject;
  /** Reads the settings of that project; by default, a mistake in them is thrown. */
  projectConfig?: (found: FoundProject) => Settings;
}

/** Says who the caller is, by the rules of `whoami`; needs no daemon. */
export function identify(caller: Caller, as: string | null = null): Identity {
  const { env, pid } = caller;
  const run = variableOf(env, "PERDURE_RUN") ?? "";
  if (run !== "" && isBelowService(processTable(), pid, run)) {
    return { ...identify({ ...caller, env: withoutWorker(env) }, as), actor: "nested" };
  }
  const found = memoize(caller.findProject);
  const projectConfig = memoize(() => settingsOf(caller, found()));
  return whoami({
    as,
    env,
    hasToken: tokenFor(env, statePaths(env).socket) !== null,
    nested: memoize(() => isNested(processTable(), pid, run)),
    sinceStart: () => sinceStartOf(run, env),
    projectHere: () => slugOf(found(), projectConfig(), env),
    projectConfig,
    userConfig: () => readUserSettings(userConfigFile(env)),
    conversationName: () => surroundingConversationName(env),
    fingerprint: () => fingerprint(env),
  });
}

/** Returns the environment without the worker, where a vendor's background service has inherited it from whoever started it. */
function withoutWorker(env: Environment): Environment {
  const ofWorker = /^(?:PERDURE_(?:PROJECT|NAME|RUN|GENERATION|TOKEN)|PI_INTERCOM_.*|AI_AGENT_ID)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofWorker.test(name)));
}

/**
 * Refers to the worker that a caller means who names none: the one that `identify` says. Null for an alias, which is no worker. The
 * project of the caller's folder is left out, as it is where a person types a bare name.
 */
export function pinnedTarget({ durable, project, name }: Identity, caller: Caller, here: ProjectRef): Target | null {
  if (!durable) return null;
  const found = caller.findProject();
  const isHere = slugOf(found, settingsOf(caller, found), caller.env) === project;
  return { project: isHere ? null : project, name, here };
}

function settingsOf({ projectConfig = readProjectSettings }: Caller, found: FoundProject): Settings {
  return projectConfig(found);
}

/** Reads what the daemon has left in a run's folder of its worker, so that no daemon is needed. */
function sinceStartOf(run: string, env: Environment): SinceStart {
  const folder = join(statePaths(env).runs, fileNameOf(run));
  return {
    address: readIfReadable(join(folder, ADDRESS_FILE), RUN_FILE_BYTES_MAX).trim() || null,
    displaced: existsSync(join(folder, DISPLACED_FILE)),
  };
}

/** Looks the slug up in the published index, so that no daemon is needed; an unregistered folder gets the slug it would have. */
function slugOf(found: FoundProject, config: Settings, env: Environment): string {
  const index = readProjectsIndex(statePaths(env).projectsFile);
  const known = index[found.identity];
  if (known !== undefined) return known;
  const taken = new Set(Object.values(index).map(nameKey));
  return chooseSlug(config.project ?? found.base, found.identity, (key) => taken.has(key));
}

/** Identifies the caller's terminal or agent, the same on every call: by AI_AGENT_ID, else by the leader of the process session. */
function fingerprint(env: Environment): string {
  const agent = variableOf(env, "AI_AGENT_ID");
  if (agent !== null && agent !== env.PERDURE_RUN) return sha256(agent).slice(0, 8);
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
