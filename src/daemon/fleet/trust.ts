import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { sha256 } from "../../util/sha256.ts";
import { setTrustedFleet, trustedFleetOf } from "../../store/fleet.ts";
import { recordEvent } from "../events.ts";
import type { BaseServices } from "../base-services.ts";
import { projectOf, registerProject } from "../names/lookup.ts";
import { publishProjects } from "../names/projects-index.ts";
import { isFolder } from "../../state/files.ts";

/** Records that the operator agrees to what the fleet file runs: to exactly this text. */
export async function recordTrust(services: BaseServices, params: CallParams<"trust">): Promise<CallResults["trust"]> {
  const digest = digestOfFleet(params);
  assertFolder(params.here.root);
  const trusted = await services.writer.write(() => {
    const project = registerProject(services, params.here);
    setTrustedFleet(services.db, {
      projectId: project.id,
      digest,
      text: params.text,
      prompts: params.prompts,
      atMs: services.now(),
    });
    recordEvent(services, "fleet.trusted", { projectId: project.id }, { digest });
    return { project: project.slug, digest };
  });
  publishProjects(services);
  return trusted;
}

/** Throws unless the root is a folder, because trusting registers it as a project. */
function assertFolder(root: string): void {
  if (isFolder(root)) return;
  throw new PerdureError("not-found", `${root} is not a folder.`, { hint: "cd to the project" });
}

/** Tells whether exactly this text is trusted, and what was trusted before. */
export function checkTrust(services: BaseServices, params: CallParams<"checkTrust">): CallResults["checkTrust"] {
  const known = lastTrusted(services, params);
  return {
    trusted: known?.digest === digestOfFleet(params),
    before: known && { text: known.text, prompts: known.prompts },
  };
}

export function assertTrusted(services: BaseServices, params: FleetText & Pick<CallParams<"up">, "here">): void {
  const known = lastTrusted(services, params);
  if (known?.digest === digestOfFleet(params)) return;
  const why = known === null ? "was never trusted" : "has changed since it was trusted";
  throw new PerdureError("refused", `The perdure.toml of ${params.here.root} ${why}; nothing was started.`, {
    hint: hintOf`review what it runs, then: ${verb("trust")}`,
    details: { untrusted: true },
  });
}

function lastTrusted(
  services: BaseServices,
  { here }: Pick<CallParams<"up">, "here">,
): ReturnType<typeof trustedFleetOf> {
  const project = projectOf(services, { here, project: null });
  return project && trustedFleetOf(services.db, project.id);
}

type FleetText = Pick<CallParams<"up">, "text" | "prompts">;

function digestOfFleet({ text, prompts }: FleetText): string {
  return sha256(`${prompts}\n${text}`);
}
