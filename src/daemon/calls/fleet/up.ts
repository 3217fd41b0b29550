import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import type { UpItem } from "../../../protocol/records/fleet.ts";
import { activeSaved } from "../../../store/saved.ts";
import { publishProjects } from "../../names/projects-index.ts";
import { enterSaved } from "../../saved/enter-saved.ts";
import { assertTrusted } from "../../fleet/trust.ts";
import { nameMembers, desireMember, bringUpMember, movedMembers } from "../../fleet/members.ts";
import type { CallContext } from "../context.ts";

/**
 * Brings a fleet up: checks the trust → makes the names workers → enters the saved session, completely or not at all →
 * makes them desired → starts each, or leaves it running. A worker that is refused does not affect the others.
 */
export async function upCall(given: CallParams<"up">, context: CallContext): Promise<CallResults["up"]> {
  const { services } = context;
  const params = withEnvironments(given);
  assertTrusted(services, params);
  const paths = params.workers.filter(({ mode }) => mode !== "turn").map(({ environment }) => environment.PATH ?? "");
  if (paths.length > 0) services.fleet.tmux.server([...new Set(paths)].join(":")); // without tmux, one error for all of them
  const moved = await movedMembers(services, params);
  const { project, members, refused } = await services.writer.write(() => nameMembers(services, params, moved));
  for (const item of refused) await context.send(item);
  publishProjects(services);
  const freshWorkers = await enterSaved(services, project, members, params);
  await services.writer.write(() => {
    for (const member of members) desireMember(services, member);
  });
  const items = await Promise.all(
    members.map(async (member) => {
      const item = await bringUpMember(services, project, member, params.fresh || freshWorkers.has(member.worker.id));
      if (member.entry.mode === "turn") services.turns.follow(member.worker);
      await context.send(item);
      return item;
    }),
  );
  const count = (outcome: UpItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  const session = activeSaved(services.db, project.id)?.name ?? null;
  return {
    started: count("started"),
    running: count("running"),
    asleep: count("asleep"),
    refused: count("refused") + refused.length,
    session,
  };
}

/** The environment of all is given once. A client of an earlier version gives each entry one, with the entry's own variables in it. */
function withEnvironments({ environment, ...params }: CallParams<"up">): CallParams<"up"> {
  return { ...params, workers: params.workers.map((entry) => ({ ...entry, ...environment, own: entry.own ?? {} })) };
}
