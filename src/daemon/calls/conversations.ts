import { resolve } from "node:path";
import { FOUND_PER_VENDOR } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import type { FoundRecord } from "../../protocol/records/conversation.ts";
import { asker } from "../../launch/ask-program.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { realPath } from "../../state/paths.ts";
import { projectById } from "../../store/projects.ts";
import { sessionInUse } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import { adapterNames, adapterOf, type Adapter } from "../../vendors/index.ts";
import { iso } from "../names/describe.ts";
import type { House } from "../services.ts";
import type { CallContext } from "./context.ts";

/** The conversations of every vendor that is installed here, whoever began them, newest first. */
export async function findConversationsCall(
  params: CallParams<"findConversations">,
  context: CallContext,
): Promise<CallResults["findConversations"]> {
  const adapters = adapterNames()
    .filter((name) => params.vendor === null || name === params.vendor)
    .flatMap((name) => adapterOf(name) ?? []);
  const found = await Promise.all(
    adapters.map((adapter) =>
      foundBy(context.house, adapter, params).catch((error: unknown) => {
        // One vendor's trouble is not the others'.
        context.house.log(`the conversations of ${adapter.vendor} cannot be listed: ${String(error)}`);
        return [];
      }),
    ),
  );
  const all = found.flat().toSorted((a, b) => b.at.localeCompare(a.at));
  for (const each of all) await context.send(each);
  return { count: all.length };
}

async function foundBy(
  house: House,
  adapter: Adapter,
  { cwd, environment }: CallParams<"findConversations">,
): Promise<FoundRecord[]> {
  const [program = ""] = adapter.command;
  if ("missing" in findProgram(program, environment.PATH, cwd)) return [];
  const { dir, variables } = adapter.config(environment);
  const configDir = realPath(resolve(cwd, dir));
  const ask = asker({ command: adapter.command, cwd, environment, variables });
  const conversations = await adapter.list(configDir, FOUND_PER_VENDOR, ask);
  return conversations.map(({ id, cwd: began, words, atMs }) => {
    const place = { vendor: adapter.vendor, id, configDir, launchCwd: began ?? cwd };
    const [holder] = adapter.holders(place, house.processes);
    return {
      id,
      vendor: adapter.vendor,
      words,
      at: iso(atMs),
      cwd: began,
      openIn: holder?.pid ?? null,
      worker: ownerOf(house, adapter.vendor, configDir, id),
    };
  });
}

function ownerOf(house: House, vendor: string, configDir: string, id: string): string | null {
  const session = sessionInUse(house.db, vendor, configDir, id);
  const worker = session && workerById(house.db, session.worker_id);
  const project = worker && projectById(house.db, worker.project_id);
  return worker && project ? `${project.slug}/${worker.name}` : null;
}
