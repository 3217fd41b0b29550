import { resolve } from "node:path";
import { FOUND_PER_VENDOR } from "../../../limits/index.ts";
import type { CallParams } from "../../../protocol/calls/index.ts";
import { formatAddress } from "../../../protocol/names.ts";
import type { FoundRecord } from "../../../protocol/records/conversation.ts";
import { programAsker } from "../../../launch/ask-program.ts";
import { findProgram } from "../../../runtime/find-program.ts";
import { realPath } from "../../../state/paths.ts";
import { projectById } from "../../../store/projects.ts";
import { conversationInUse } from "../../../store/conversations.ts";
import { workerById } from "../../../store/workers.ts";
import { adapterNames, adapterOf, type Adapter } from "../../../vendors/index.ts";
import type { BaseServices } from "../../base-services.ts";
import { iso } from "../../../util/iso.ts";

/** Gathers the conversations of every installed vendor, with or without a worker, newest first. */
export async function findAdoptable(
  services: AdoptableServices,
  params: CallParams<"findConversations">,
): Promise<FoundRecord[]> {
  const adapters = adapterNames()
    .filter((name) => params.vendor === null || name === params.vendor)
    .flatMap((name) => adapterOf(name) ?? []);
  const found = await Promise.all(
    adapters.map((adapter) =>
      listConversations(services, adapter, params).catch((error: unknown) => {
        // A failure of one vendor does not affect the others.
        services.log(`the conversations of ${adapter.vendor} cannot be listed: ${String(error)}`);
        return [];
      }),
    ),
  );
  return found.flat().toSorted((a, b) => b.at.localeCompare(a.at));
}

type AdoptableServices = Pick<BaseServices, "db" | "processes" | "log">;

async function listConversations(
  services: AdoptableServices,
  adapter: Adapter,
  { cwd, environment }: CallParams<"findConversations">,
): Promise<FoundRecord[]> {
  const [program = ""] = adapter.command;
  if ("missing" in findProgram(program, environment.PATH, cwd)) return [];
  const { dir, variables } = adapter.storage.configDirOf(environment);
  const configDir = realPath(resolve(cwd, dir));
  const ask = programAsker(adapter, { command: adapter.command, cwd, environment, variables });
  const conversations = await adapter.storage.list(configDir, FOUND_PER_VENDOR, ask);
  const records = conversations.map(async ({ id, cwd: began, words, atMs }) => {
    const location = { vendor: adapter.vendor, id, configDir, launchCwd: began ?? cwd };
    const [holder] = await adapter.liveness.holders(location, services.processes);
    return {
      id,
      vendor: adapter.vendor,
      words,
      at: iso(atMs),
      cwd: began,
      openIn: holder?.pid ?? null,
      worker: ownerOf(services, adapter.vendor, configDir, id),
    };
  });
  return Promise.all(records);
}

function ownerOf(services: AdoptableServices, vendor: string, configDir: string, id: string): string | null {
  const conversation = conversationInUse(services.db, vendor, configDir, id);
  const worker = conversation && workerById(services.db, conversation.workerId);
  const project = worker && projectById(services.db, worker.projectId);
  return worker && project ? formatAddress(project.slug, worker.name) : null;
}
