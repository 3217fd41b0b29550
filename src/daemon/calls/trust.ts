import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { sha256 } from "../../util/sha256.ts";
import { setTrusted, trustedOf } from "../../store/fleet.ts";
import type { CallContext } from "./context.ts";
import { record, type House } from "../services.ts";
import { projectOf, registerProject } from "../names/lookup.ts";
import { publishProjects } from "../names/projects-index.ts";
import { isFolder } from "../../state/files.ts";

/** The operator has seen what the file would run, and agrees: to this text, and to no other. */
export async function trustCall(params: CallParams<"trust">, { house }: CallContext): Promise<CallResults["trust"]> {
  const digest = digestOf(params);
  assertThere(params.here.root);
  const trusted = await house.writer.write(() => {
    const project = registerProject(house, params.here);
    setTrusted(house.db, {
      project_id: project.id,
      digest,
      text: params.text,
      prompts: params.prompts,
      at_ms: house.now(),
    });
    record(house, "fleet.trusted", { projectId: project.id }, { digest });
    return { project: project.slug, digest };
  });
  publishProjects(house);
  return trusted;
}

/** A folder becomes a project by this: one that is not there has nothing to trust. */
function assertThere(root: string): void {
  if (isFolder(root)) return;
  throw new PerdureError("not-found", `${root} is not a folder.`, { hint: "cd to the project" });
}

export async function trustedCall(
  params: CallParams<"trusted">,
  { house }: CallContext,
): Promise<CallResults["trusted"]> {
  const known = trustedBefore(house, params);
  return { trusted: known?.digest === digestOf(params), before: known && { text: known.text, prompts: known.prompts } };
}

export function assertTrusted(house: House, params: Agreed & Pick<CallParams<"up">, "here">): void {
  const known = trustedBefore(house, params);
  if (known?.digest === digestOf(params)) return;
  const why = known === null ? "was never trusted" : "has changed since it was trusted";
  throw new PerdureError("refused", `The perdure.toml of ${params.here.root} ${why}; nothing was started.`, {
    hint: "look at what it runs, then: perdure trust",
    details: { untrusted: true },
  });
}

function trustedBefore(house: House, { here }: Pick<CallParams<"up">, "here">): ReturnType<typeof trustedOf> {
  const project = projectOf(house, { here, project: null });
  return project && trustedOf(house.db, project.id);
}

type Agreed = Pick<CallParams<"up">, "text" | "prompts">;

function digestOf({ text, prompts }: Agreed): string {
  return sha256(`${prompts}\n${text}`);
}
